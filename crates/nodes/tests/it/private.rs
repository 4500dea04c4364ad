//! The memory of a program that holds keys.

#[cfg(target_os = "linux")]
#[test]
fn the_memory_of_this_program_is_kept_from_others_on_request() {
    use rustix::process::{DumpableBehavior, dumpable_behavior, set_dumpable_behavior};
    set_dumpable_behavior(DumpableBehavior::Dumpable).unwrap();
    superstep_nodes::secrets::keep_memory_private();
    assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::NotDumpable);
    set_dumpable_behavior(DumpableBehavior::Dumpable).unwrap();
}
