//! Keeps JavaScript modules as QuickJS bytecode, so that they are read once and declared in many machines.
//!
//! Bytecode that somebody made up can do anything, so declaring it is unsafe. That call is all there is here, and the
//! reason why this is a crate of its own. It is sound because the bytes come from nowhere else: they are written here, by
//! the same QuickJS, and nobody can look at or change them.
#![deny(missing_docs)]

use rquickjs::module::{Declared, WriteOptions};
use rquickjs::{Context, Ctx, Module, Result, Runtime};

/// Most memory for reading a module, and the deepest stack.
const MEMORY: usize = 64 * 1024 * 1024;
const STACK: usize = 512 * 1024;

/// A module that has been read.
#[derive(Clone, Debug)]
pub struct Bytecode(Vec<u8>);

impl Bytecode {
    /// Reads a module. One that imports others cannot be kept, because they are not known here; that is an error like
    /// any other.
    pub fn of(name: &str, source: &str) -> Result<Self> {
        // A machine without a loader: what is read here has no connection to other modules that would be missing later.
        let runtime = Runtime::new()?;
        runtime.set_memory_limit(MEMORY);
        runtime.set_max_stack_size(STACK);
        let context = Context::full(&runtime)?;
        context.with(|ctx| {
            let module = Module::declare(ctx, name, source)?;
            module.write(WriteOptions::default()).map(Self)
        })
    }

    /// Declares the module in a machine.
    pub fn declare<'js>(&self, ctx: &Ctx<'js>) -> Result<Module<'js, Declared>> {
        // SAFETY: the bytes are what this QuickJS wrote for a module that it had read, whole and without imports; they are
        // copied by the reader.
        unsafe { Module::load(ctx.clone(), &self.0) }
    }
}

#[cfg(test)]
mod tests {
    use rquickjs::Function;

    use super::*;

    fn call(code: &Bytecode) -> Result<i32> {
        let context = Context::full(&Runtime::new()?)?;
        context.with(|ctx| {
            let (module, _) = code.declare(&ctx)?.eval()?;
            module.get::<_, Function>("default")?.call(())
        })
    }

    #[test]
    fn a_module_runs_in_many_machines_and_keeps_nothing() {
        let source = "let calls = 0; export default () => { globalThis.left = 1 + (globalThis.left ?? 0); return ++calls + globalThis.left; }";
        let code = Bytecode::of("m", source).unwrap();
        for _ in 0..3 {
            assert_eq!(call(&code).unwrap(), 2);
        }
    }

    #[test]
    fn what_cannot_be_read_alone_is_an_error() {
        for source in [
            "export default (",
            "import './a.js'",
            "export * from 'a'",
            "import a from './a.js'; a()",
        ] {
            assert!(Bytecode::of("m", source).is_err(), "{source}");
        }
        assert!(
            Bytecode::of("m", "export default () => import('./a.js')").is_ok(),
            "it looks when it runs"
        );
    }

    #[test]
    fn errors_say_the_line_and_functions_their_source() {
        let code = Bytecode::of(
            "named",
            "\n\nexport default () => { try { throw new Error('x') } catch (e) { \
            return e.stack.includes('named:3') && (function f(a) { return a }).toString() === 'function f(a) { return a }' ? 1 : 0 } }",
        );
        assert_eq!(call(&code.unwrap()).unwrap(), 1);
    }
}
