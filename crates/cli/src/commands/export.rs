//! `superstep export`: a graph as a drawing, as a formatted file, or the schema of its input.

use superstep_nodes::Registry;

use crate::args::{ExportArgs, Format};
use crate::fault::Fault;
use crate::graph::{GraphFile, describe};
use crate::out;

pub(crate) fn export(args: &ExportArgs) -> Result<(), Fault> {
    let file = GraphFile::read(&args.graph)?;
    let unread = file.unread();
    if !unread.is_empty() {
        // A member that stands twice would be lost by writing the file again.
        for problem in unread {
            out::note(&describe(problem));
        }
        return Err(Fault::failed(format!(
            "{} is not exported, because it was not read whole.",
            file.path.display()
        )));
    }
    let text = match args.format {
        Format::Mermaid => file.mermaid(&Registry::standard()),
        Format::Json => file.document.to_text(),
        Format::InputSchema => {
            format!(
                "{}\n",
                serde_json::to_string_pretty(&file.document.input_schema()).map_err(std::io::Error::other)?
            )
        }
    };
    match &args.output {
        Some(path) => std::fs::write(path, text).map_err(|error| {
            Fault::failed(format!(
                "{} cannot be written: {error}. Choose another place.",
                path.display()
            ))
        }),
        None => Ok(match args.format {
            Format::Mermaid => out::lines(text.trim_end()),
            Format::Json | Format::InputSchema => out::json_lines(text.trim_end()),
        }?),
    }
}
