//! How sets grow.

use super::*;
use commsan_ir::GlobalId;

fn object(number: u32) -> Object {
    Object::Global(GlobalId(number))
}

fn at(number: u32, at: i64) -> Pointer {
    Pointer { object: object(number), at: Some(at) }
}

#[test]
fn fields_are_told_apart_and_a_variable_index_is_all_of_them() {
    let mut solver = Solver::default();
    let [structure, first, second, loaded, any, all] = [(); 6].map(|()| solver.node());
    solver.add(structure, at(0, 0));
    let field = solver.node();
    solver.shift(structure, field, Some(8));
    solver.add(first, at(1, 0));
    solver.add(second, at(2, 0));
    solver.store(structure, first);
    solver.store(field, second);
    solver.load(field, loaded);
    solver.shift(structure, any, None);
    solver.load(any, all);
    solver.run();
    assert_eq!(solver.pointers(loaded), [at(2, 0)]);
    assert_eq!(solver.pointers(all), [at(1, 0), at(2, 0)]);
}

#[test]
fn a_pointer_that_walks_in_a_loop_ends() {
    let mut solver = Solver::default();
    let [walking, next] = [(); 2].map(|()| solver.node());
    solver.add(walking, at(0, 0));
    solver.shift(walking, next, Some(8));
    solver.copy(next, walking);
    solver.run();
    let found = solver.pointers(walking);
    assert!(found.len() <= MAX_FIELDS + 2, "{}", found.len());
    assert!(found.contains(&Pointer { object: object(0), at: None }));
}

#[test]
fn pointers_that_walk_through_many_objects_are_few() {
    let mut solver = Solver::default();
    let [walking, next] = [(); 2].map(|()| solver.node());
    for number in 0..100 {
        solver.add(walking, at(number, 0));
    }
    solver.shift(walking, next, Some(8));
    solver.copy(next, walking);
    solver.run();
    let found = solver.pointers(walking);
    assert!(found.len() <= 100 * 8, "{}", found.len());
    assert!((0..100).all(|n| found.contains(&Pointer { object: object(n), at: None })));
}

#[test]
fn places_from_many_sets_become_the_whole_object() {
    let mut solver = Solver::default();
    let [base, all] = [(); 2].map(|()| solver.node());
    solver.add(base, at(0, 0));
    for field in 1..300 {
        let stepped = solver.shifted(base, Some(8 * field));
        solver.copy(stepped, all);
    }
    solver.run();
    let found = solver.pointers(all);
    assert!(found.len() < 150, "{}", found.len());
    assert!(found.contains(&Pointer { object: object(0), at: None }));
}

#[test]
fn copied_objects_bring_their_fields() {
    let mut solver = Solver::default();
    let [from, to, held, loaded] = [(); 4].map(|()| solver.node());
    solver.add(from, at(0, 0));
    solver.add(to, at(1, 16));
    solver.add(held, at(2, 4));
    let field = solver.node();
    solver.shift(from, field, Some(8));
    solver.store(field, held);
    solver.run();
    while solver.copy_objects(to, from) {
        solver.run();
    }
    let moved = solver.node();
    solver.shift(to, moved, Some(8));
    solver.load(moved, loaded);
    solver.run();
    assert_eq!(solver.pointers(loaded), [at(2, 4)]);
}
