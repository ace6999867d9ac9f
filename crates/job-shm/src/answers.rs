//! The relay's answers: what ranks of other nodes ask of the memory of this one.

use crate::job_shm::JobShm;
use crate::memory::LONGEST;
use crate::node_rendezvous::{Answer, Posted};
use crate::process::{Seen, pid_namespace};
use crate::rendezvous::Rendezvous;
use crate::wire::{Question, Reply, join, pack, put};

/// Performs the request of a frame on the memory of this node, and appends the answer. `None` if
/// the frame is malformed.
pub(crate) fn answer(
    shm: &JobShm,
    question: Question,
    asked: &[u64],
    out: &mut Vec<u8>,
) -> Option<()> {
    let rank = |word: &u64| usize::try_from(*word).ok().filter(|rank| *rank < shm.ranks());
    let ranks = |words: &[u64]| words.iter().map(rank).collect::<Option<Vec<usize>>>();
    let all = |is: &dyn Fn(usize) -> bool| -> Vec<u64> {
        (0..shm.ranks()).filter(|rank| is(*rank)).map(|rank| rank as u64).collect()
    };
    let mut row = vec![0; shm.ranks()];
    match (question, asked) {
        (Question::Members, []) => put(out, Reply::Fine, all(&|rank| shm.memory.is_here(rank))),
        (Question::Enter, [key, entry @ ..]) => {
            match shm.rendezvous().post_here(*key, entry.try_into().ok()?) {
                Posted::After(first) => put(out, Reply::Fine, first),
                Posted::First | Posted::Busy => put(out, Reply::Fine, []),
            }
        }
        (Question::Look, []) => put(out, Reply::Fine, looked(shm.rendezvous())),
        (Question::Mismatch, []) => {
            shm.rendezvous().count_mismatch_here();
            put(out, Reply::Fine, []);
        }
        (Question::Ask, []) => {
            shm.rendezvous().ask();
            put(out, Reply::Fine, []);
        }
        (Question::RollCall, []) => put(out, Reply::Fine, [shm.rendezvous().call_roll()]),
        _ if shm.is_off() => put(out, Reply::Over, []),
        (Question::Present, []) => put(out, Reply::Fine, all(&|rank| shm.memory.is_present(rank))),
        (Question::Join, [of, segment]) => {
            shm.join_here(rank(of)?, u32::try_from(*segment).ok()?, &mut row);
            put(out, Reply::Fine, pack(&row));
        }
        (Question::Newest, [of]) => {
            shm.join_newest_here(rank(of)?, &mut row);
            put(out, Reply::Fine, pack(&row));
        }
        (Question::Gather, [key, of @ ..]) => {
            let of = ranks(of)?;
            let entered: Vec<u64> =
                of.iter().map(|rank| shm.gather_here(*rank, *key, &mut row).into()).collect();
            put(out, Reply::Fine, entered.into_iter().chain(pack(&row)));
        }
        (Question::Parts, [window, of @ ..]) => {
            let parts = ranks(of)?.into_iter().map(|rank| shm.part_here(rank, *window));
            put(
                out,
                Reply::Fine,
                parts.flat_map(|part| match part {
                    Some((size, unit)) => [1, size, unit],
                    None => [0; 3],
                }),
            );
        }
        (Question::Release, [of, cell, clock @ ..]) if clock.len() == shm.ranks().div_ceil(2) => {
            join(clock, &mut row);
            shm.release_here(rank(of)?, *cell, &row);
            put(out, Reply::Fine, []);
        }
        (Question::Acquire, [of, cell]) => {
            shm.acquire_here(rank(of)?, *cell, &mut row);
            put(out, Reply::Fine, pack(&row));
        }
        (Question::Post, [from, to, notice @ ..]) if notice.len() <= LONGEST => {
            put(out, Reply::Fine, [shm.post_here(rank(from)?, rank(to)?, notice).into()]);
        }
        (Question::SwitchOff, []) => {
            shm.switch_off_here();
            put(out, Reply::Fine, []);
        }
        _ => return None,
    }
    Some(())
}

/// What a relay reports of the ranks of its node: its PID namespace, mismatches, and for each rank
/// [`LOOKED`](crate::wire::LOOKED) words.
fn looked(rendezvous: Rendezvous) -> Vec<u64> {
    let mut words = vec![pid_namespace(), rendezvous.mismatches()];
    rendezvous.observe();
    let ranks = rendezvous.processes().zip(rendezvous.moves()).zip(rendezvous.answers());
    let ranks = ranks.zip(rendezvous.replies().zip(rendezvous.ages()));
    let called = rendezvous.roll_calls();
    for (rank, (((process, moves), (answered, answer)), (replied, age))) in (0..).zip(ranks) {
        if process == 0 {
            continue;
        }
        // Processes that compute need not be inspected, unless they have not answered.
        let seen = match moves % 2 == 1 || replied < called {
            true => Seen::of(process),
            false => Some(Seen { state: 'R', ran: None }),
        };
        let state = seen.map_or(0, |seen| seen.state.into());
        let ran = seen.and_then(|seen| seen.ran).map_or(0, |ran| ran + 1);
        let answer = Answer::to_word(answer);
        words.extend([rank, process.into(), moves, answered, answer, replied, age, state, ran]);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{self, LOOKED};
    use crate::{ENTRY, Memory};

    fn shm() -> JobShm {
        JobShm::new(Memory::create(3).unwrap().0, 1)
    }

    fn ask(shm: &JobShm, question: Question, asked: &[u64]) -> Option<(Reply, Vec<u64>)> {
        let mut out = Vec::new();
        answer(shm, question, asked, &mut out)?;
        let (kind, count) = wire::header(out[..8].try_into().unwrap())?;
        assert_eq!(out.len(), 8 + 8 * count);
        Some((Reply::of(kind)?, wire::words(&out[8..]).collect()))
    }

    #[test]
    fn memory_answers() {
        let shm = shm();
        shm.attend();
        shm.publish(&[0, 1, 0]);
        shm.enter(99, 1);
        shm.publish(&[4, 2, 0]);
        let packed = |row: &[u32]| pack(row).collect::<Vec<_>>();
        shm.rendezvous().attend(2, 7);
        assert_eq!(ask(&shm, Question::Members, &[]), Some((Reply::Fine, vec![2])));
        assert_eq!(ask(&shm, Question::Present, &[]), Some((Reply::Fine, vec![1])));
        let entry = |word| [&[33][..], &[word; ENTRY]].concat();
        assert_eq!(ask(&shm, Question::Enter, &entry(5)), Some((Reply::Fine, vec![])));
        assert_eq!(ask(&shm, Question::Enter, &entry(6)), Some((Reply::Fine, vec![5; ENTRY])));
        let (reply, looked) = ask(&shm, Question::Look, &[]).unwrap();
        assert_eq!((reply, looked.len()), (Reply::Fine, 2 + LOOKED));
        assert_eq!(looked[1..5], [0, 2, 7, 0]);
        let before = shm.rendezvous().asked();
        ask(&shm, Question::Ask, &[]);
        assert_eq!(ask(&shm, Question::RollCall, &[]), Some((Reply::Fine, vec![1])));
        assert_eq!(shm.rendezvous().asked(), before + 2);
        assert_eq!(ask(&shm, Question::Join, &[1, 1]), Some((Reply::Fine, packed(&[0, 1, 0]))));
        assert_eq!(ask(&shm, Question::Newest, &[1]), Some((Reply::Fine, packed(&[4, 2, 0]))));
        let gathered = [vec![1], packed(&[0, 1, 0])].concat();
        assert_eq!(ask(&shm, Question::Gather, &[99, 1]), Some((Reply::Fine, gathered)));
        let newest = [vec![0], packed(&[4, 2, 0])].concat();
        assert_eq!(ask(&shm, Question::Gather, &[98, 1]), Some((Reply::Fine, newest)));
        shm.publish_part(5, 800, 8);
        assert_eq!(
            ask(&shm, Question::Parts, &[5, 1, 2]),
            Some((Reply::Fine, vec![1, 800, 8, 0, 0, 0]))
        );
        let release = [vec![1, 77], packed(&[1, 2, 3])].concat();
        assert_eq!(ask(&shm, Question::Release, &release), Some((Reply::Fine, vec![])));
        assert_eq!(ask(&shm, Question::Acquire, &[1, 77]), Some((Reply::Fine, packed(&[1, 2, 3]))));
        assert_eq!(ask(&shm, Question::Post, &[2, 1, 10, 11]), Some((Reply::Fine, vec![1])));
        let mut notice = Vec::new();
        assert!(shm.take(&mut notice).is_some() && notice == [10, 11]);
        assert_eq!(ask(&shm, Question::SwitchOff, &[]), Some((Reply::Fine, vec![])));
        assert!(shm.is_off());
        assert_eq!(ask(&shm, Question::Newest, &[1]), Some((Reply::Over, vec![])));
        assert!(
            ask(&shm, Question::Look, &[]).is_some_and(|(reply, _)| reply == Reply::Fine),
            "who waits is still told"
        );
    }

    #[test]
    fn whatever_is_asked_is_answered_or_refused() {
        let shm = shm();
        let (mut state, mut answered) = (1_u64, 0);
        let mut next = move |below: u64| {
            // xorshift64
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % below
        };
        for _ in 0..50_000 {
            let number = next(u64::from(u32::from(Question::RollCall)) + 2) as u32;
            let most = [0, 4, 1 << 40, u64::MAX][next(4) as usize];
            let asked: Vec<u64> = (0..next(20)).map(|_| next(most.max(1))).collect();
            if let Some(question) = Question::of(number)
                && question != Question::SwitchOff
            {
                answered += u32::from(ask(&shm, question, &asked).is_some());
            }
        }
        assert!(answered > 1000, "{answered}");
    }

    #[test]
    fn what_has_no_form_is_refused() {
        let shm = shm();
        for (question, asked) in [
            (Question::Hello, &[1][..]),
            (Question::Members, &[0]),
            (Question::Join, &[3, 1]),
            (Question::Join, &[1, u64::MAX]),
            (Question::Newest, &[u64::MAX]),
            (Question::Gather, &[]),
            (Question::Gather, &[1, 3]),
            (Question::Parts, &[1, 4]),
            (Question::Release, &[1, 1, 1]),
            (Question::Acquire, &[3, 1]),
            (Question::Post, &[0, 3]),
            (Question::Enter, &[1, 2]),
            (Question::Look, &[1]),
        ] {
            assert_eq!(ask(&shm, question, asked), None, "{question:?} {asked:?}");
        }
    }
}
