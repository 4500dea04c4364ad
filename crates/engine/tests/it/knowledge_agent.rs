//! The example of a whole agent, which checks its own answers.

include!("../../examples/knowledge_agent.rs");

#[test]
fn the_example_gives_its_answers() {
    main().unwrap();
}
