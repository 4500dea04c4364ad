//! `superstep types`: the types of a graph's state.

use superstep_nodes::kinds::code::Language;
use superstep_nodes::kinds::state_types;

use crate::args::{ProgramLanguage, TypesArgs};
use crate::fault::Fault;
use crate::graph::GraphFile;
use crate::out;

pub(crate) fn types(args: &TypesArgs) -> Result<(), Fault> {
    let file = GraphFile::read(&args.graph)?;
    let language = match args.language {
        ProgramLanguage::Javascript => Language::JavaScript,
        ProgramLanguage::Python => Language::Python,
    };
    out::lines(state_types::types(&file.document, language).trim_end())?;
    Ok(())
}
