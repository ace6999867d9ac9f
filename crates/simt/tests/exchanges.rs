//! Warp-level instructions on random values, members and divergence, compared with the host.

mod device;

use commsan_simt::Program;
use device::program;
use device::words::{HEAD, apply, kernel};
use proptest::prelude::*;

/// The values of the lanes that take part in an exchange.
type Values = [Option<u32>; 32];

/// The expected result of a lane, if it is defined.
type Exchange = fn(&Values, usize) -> Option<u32>;

/// Instructions whose results depend on other lanes; `%cw` is the mask of members.
fn exchanges() -> Vec<(&'static str, &'static str, Exchange)> {
    fn given(values: &Values) -> impl Iterator<Item = u32> {
        values.iter().flatten().copied()
    }
    fn ballot(values: &Values, f: impl Fn(u32) -> bool) -> u32 {
        let holds = |lane: usize| values[lane].is_some_and(&f);
        (0..32).filter(|lane| holds(*lane)).fold(0, |all, lane| all | 1 << lane)
    }
    vec![
        (
            "all",
            "setp.lt.u32 %p, %aw, 3; vote.sync.all.pred %q, %p, %cw; selp.u32 %rw, 1, 0, %q;",
            |v, _| Some(given(v).all(|v| v < 3).into()),
        ),
        (
            "any",
            "setp.lt.u32 %p, %aw, 3; vote.sync.any.pred %q, !%p, %cw; selp.u32 %rw, 1, 0, %q;",
            |v, _| Some(given(v).any(|v| v >= 3).into()),
        ),
        (
            "uni",
            "setp.eq.u32 %p, %aw, 1; vote.sync.uni.pred %q, %p, %cw; selp.u32 %rw, 1, 0, %q;",
            |v, lane| Some(given(v).all(|w| (w == 1) == (v[lane] == Some(1))).into()),
        ),
        ("ballot", "setp.gt.u32 %p, %aw, 1; vote.sync.ballot.b32 %rw, %p, %cw;", |v, _| {
            Some(ballot(v, |v| v > 1))
        }),
        // As CUB writes it.
        ("ballot_sync", "setp.gt.u32 %p, %aw, 2; vote.ballot.sync.b32 %rw, %p, %cw;", |v, _| {
            Some(ballot(v, |v| v > 2))
        }),
        // The mask of members is read before the result is written.
        (
            "ballot_in_place",
            "setp.gt.u32 %p, %aw, 1; vote.sync.ballot.b32 %cw, %p, %cw; mov.b32 %rw, %cw;",
            { |v, _| Some(ballot(v, |v| v > 1)) },
        ),
        ("match_any", "match.any.sync.b32 %rw, %aw, %cw;", |v, lane| {
            Some(ballot(v, |w| Some(w) == v[lane]))
        }),
        (
            "match_all",
            "match.all.sync.b32 %rw|%p, %aw, %cw; @%p add.u32 %rw, %rw, 1;",
            |v, lane| {
                // All lanes and the predicate, or neither.
                let all = given(v).all(|w| Some(w) == v[lane]);
                Some(if all { ballot(v, |_| true).wrapping_add(1) } else { 0 })
            },
        ),
        ("redux_add", "redux.sync.add.u32 %rw, %aw, %cw;", |v, _| Some(given(v).sum())),
        ("redux_min", "sub.s32 %aw, %aw, 2; redux.sync.min.s32 %rw, %aw, %cw;", |v, _| {
            given(v).map(|v| v as i32 - 2).min().map(|least| least as u32)
        }),
        ("redux_max", "redux.sync.max.u32 %rw, %aw, %cw;", |v, _| given(v).max()),
        ("redux_xor", "redux.sync.xor.b32 %rw, %aw, %cw;", |v, _| {
            Some(given(v).fold(0, |a, b| a ^ b))
        }),
        (
            "shfl_down",
            "shfl.sync.down.b32 %rw|%p, %aw, 3, 31, %cw; @!%p mov.u32 %rw, 77;",
            |v, lane| if lane + 3 < 32 { v[lane + 3] } else { Some(77) },
        ),
        ("shfl_up", "shfl.sync.up.b32 %rw|%p, %aw, 2, 0, %cw; @!%p mov.u32 %rw, 77;", |v, lane| {
            lane.checked_sub(2).map_or(Some(77), |from| v[from])
        }),
        ("shfl_groups", "shfl.sync.idx.b32 %rw, %aw, 1, 0x181f, %cw;", |v, lane| {
            // Groups of eight lanes: each reads lane 1 of its own group.
            v[lane / 8 * 8 + 1]
        }),
        ("shfl_bfly", "shfl.sync.bfly.b32 %rw, %aw, 1, 31, %cw;", |v, lane| v[lane ^ 1]),
        ("elect", "elect.sync %rw|%p, %cw; @%p add.u32 %rw, %rw, 50;", |v, lane| {
            let leader = v.iter().position(Option::is_some)?;
            Some(leader as u32 + if lane == leader { 50 } else { 0 })
        }),
    ]
}

/// The instruction in two places: lanes in which `%bw` is not zero reach the second one.
fn apart(body: &str) -> String {
    format!(
        "{{
            .reg .pred %late;
            setp.ne.u32 %late, %bw, 0;
            @%late bra LATE;
            {body}
            bra DONE;
            LATE: {body}
            DONE:
        }}"
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]
    #[test]
    fn lanes_exchange_as_they_should(
        values in prop::collection::vec(0u32..5, 1..=32),
        same in any::<bool>(),
        parties in 1usize..5,
        numbers in prop::collection::vec((any::<usize>(), any::<bool>()), 32),
        late in any::<bool>(),
    ) {
        thread_local! {
            static MODULE: Program = {
                let kernels = exchanges().into_iter().map(|(name, body, _)| {
                    kernel(name, &format!("{} cvt.u64.u32 %result, %rw;", apart(body)))
                });
                program(&(HEAD.to_owned() + &kernels.collect::<String>()))
            };
        }
        let values = if same { vec![values[0]; values.len()] } else { values };
        let with = |lane: usize| {
            let party = |lane: usize| numbers[lane].0 % parties;
            let own = party(lane);
            move |other: usize| party(other) == own
        };
        MODULE.with(|program| {
            for (name, _, expected) in exchanges() {
                let mut input: Vec<_> = values.iter().enumerate().map(|(lane, value)| {
                    // Lanes without a thread may be named, too.
                    let members = (0..32).filter(|other| with(lane)(*other));
                    let members = members.fold(0u64, |all, other| all | 1 << other);
                    [u64::from(*value), (late && numbers[lane].1).into(), members]
                }).collect();
                let out = apply(program, name, values.len() as u32, &mut input)
                    .map_err(|fault| fault.to_string())
                    .unwrap();
                for (lane, got) in out.into_iter().enumerate() {
                    let members = std::array::from_fn(|other| {
                        values.get(other).copied().filter(|_| with(lane)(other))
                    });
                    let expected = expected(&members, lane).map(u64::from);
                    prop_assert!(expected.is_none_or(|expected| got == expected),
                        "{name} of {members:?}: lane {lane} has {got}, not {expected:?}");
                }
            }
            Ok(())
        })?;
    }

    #[test]
    fn threads_know_which_lanes_there_are(threads in 1u32..=32) {
        thread_local! {
            static MODULE: Program = program(&(HEAD.to_owned()
                + &kernel("active", "activemask.b32 %rw; cvt.u64.u32 %result, %rw;")));
        }
        MODULE.with(|program| {
            let mut input = vec![[0; 3]; threads as usize];
            let out = apply(program, "active", threads, &mut input).unwrap();
            prop_assert!(out.iter().all(|mask| *mask == u64::from(u32::MAX >> (32 - threads))));
            Ok(())
        })?;
    }
}
