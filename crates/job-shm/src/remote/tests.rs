use super::*;
use crate::answers::answer;
use crate::connection::Connection;
use crate::memory::RING;
use crate::wire::Reply;
use crate::{ENTRY, Memory, Posted, Relay, nodes};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;

/// Two nodes of one job: ranks 0 and 2 on the first, 1 and 3 on the second, where rank 3 does not always come.
struct OtherNodes {
    directory: PathBuf,
    ranks: Vec<JobShm>,
}

impl OtherNodes {
    fn new(test: &str, present: &[usize]) -> OtherNodes {
        let directory = std::env::temp_dir().join(format!("commsan-{test}-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let mut ranks: Vec<Option<JobShm>> = (0..4).map(|_| None).collect();
        for node in 0..2 {
            let (memory, file, _) = Memory::create(4).unwrap();
            std::mem::forget(file);
            let own = nodes::name("job", &node.to_string());
            let relay = Relay::announce(&directory.join(&own), memory, node).unwrap();
            std::thread::spawn(move || relay.serve());
            for rank in [node, node + 2] {
                let finder = NodeFinder::new(directory.clone(), "job".to_owned(), own.clone());
                let shm = JobShm::with_others(memory, rank, Box::leak(Box::new(finder)));
                shm.rendezvous().attend(rank, 1);
                if present.contains(&rank) {
                    shm.attend();
                }
                ranks[rank] = Some(shm);
            }
        }
        OtherNodes { directory, ranks: ranks.into_iter().flatten().collect() }
    }
}

impl Drop for OtherNodes {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

#[test]
fn clocks_collectives_and_windows_are_found_on_other_nodes() {
    let nodes = OtherNodes::new("clocks", &[0, 1, 2, 3]);
    let [a, b, c, d] = &nodes.ranks[..] else { panic!() };
    assert!(a.is_complete() && d.is_complete());
    a.publish(&[1, 0, 0, 0]);
    a.publish(&[2, 0, 7, 0]);
    d.publish(&[0, 5, 0, 1]);
    for _ in 0..2 {
        let mut row = [0; 4];
        b.join(0, 1, &mut row);
        assert_eq!(row, [1, 0, 0, 0]);
        b.join(0, 2, &mut row);
        assert_eq!(row, [2, 0, 7, 0]);
    }
    let mut row = [0; 4];
    c.join_newest(3, &mut row);
    assert_eq!(row, [0, 5, 0, 1]);

    a.enter(9, 1);
    c.publish(&[0, 0, 3, 0]);
    c.enter(9, 3);
    d.enter(9, 1);
    let (mut row, mut entered) = ([0; 4], Vec::new());
    b.publish(&[0, 1, 0, 0]);
    b.gather(9, &[0, 2, 3], &mut row, |rank, segment| entered.push((rank, segment)));
    entered.sort_unstable();
    assert_eq!(entered, [(0, 1), (2, 3), (3, 1)]);
    assert_eq!(row, [1, 5, 3, 1]);
    a.gather(9, &[1, 3], &mut [0; 4], |rank, _| assert_eq!(rank, 3, "rank 1 has not come"));

    a.publish_part(4, 80, 8);
    b.publish_part(4, 16, 1);
    let parts = d.parts(&[0, 1, 2, 3], 4);
    assert_eq!(parts, [Some((80, 8)), Some((16, 1)), None, None]);

    b.release(2, 6, &[0, 9, 0, 0]);
    let mut row = [0; 4];
    assert!(d.acquire(2, 6, &mut row) && c.acquire(2, 6, &mut [0; 4]));
    assert_eq!(row, [0, 9, 0, 0]);
    assert!(!b.acquire(2, 6, &mut row));
}

#[test]
fn notices_have_arrived_when_they_are_settled() {
    let nodes = OtherNodes::new("notices", &[0, 1, 2, 3]);
    let [a, b, ..] = &nodes.ranks[..] else { panic!() };
    for n in 0..1000 {
        assert!(a.post(1, &[n, 2 * n]));
    }
    assert!(a.await_delivery());
    let mut notice = Vec::new();
    for n in 0..1000 {
        b.take(&mut notice).unwrap();
        assert_eq!(notice, [n, 2 * n]);
    }
    assert!(b.take(&mut notice).is_none());
    let all = (0..=RING as u64 / 3).filter(|n| a.post(1, &[*n, 0]));
    assert!(all.count() > RING / 3 && !a.await_delivery() && b.lost(0) > 0 && b.losses() > 0);
    assert!(a.await_delivery(), "that is told once");
}

#[test]
fn all_nodes_are_off_when_one_is() {
    let nodes = OtherNodes::new("off", &[0, 1, 2, 3]);
    let [a, b, c, d] = &nodes.ranks[..] else { panic!() };
    assert!(a.is_complete() && b.is_complete());
    a.switch_off();
    assert!(nodes.ranks.iter().all(JobShm::is_off));
    b.post(0, &[1]);
    c.join_newest(1, &mut [0; 4]);
    assert!(b.await_delivery() && !d.is_complete());
    assert!(!nodes.ranks.iter().any(JobShm::has_lost_others), "all have answered");
}

#[test]
fn the_first_of_all_nodes_is_found() {
    let nodes = OtherNodes::new("first", &[]);
    let [a, b, c, d] = &nodes.ranks[..] else { panic!() };
    let post = |rank: &JobShm, word| rank.rendezvous().post(9, &[word; ENTRY]);
    assert_eq!(post(b, 1), Posted::First);
    assert_eq!(post(a, 2), Posted::After([1; ENTRY]), "it was the first at home");
    assert_eq!(post(d, 3), Posted::After([1; ENTRY]));
    assert_eq!(post(c, 4), Posted::After([1; ENTRY]));
    c.rendezvous().count_mismatch();
    assert!(nodes.ranks.iter().all(|rank| rank.rendezvous().mismatches() == 1));
}

#[test]
fn the_launcher_sees_ranks_of_all_nodes() {
    let nodes = OtherNodes::new("launcher", &[]);
    let mut found = crate::jobs(&nodes.directory, |_| false);
    assert_eq!(found.len(), 1, "two nodes, one job");
    let mut job = found.remove(0);
    assert!(crate::jobs(&nodes.directory, |name| name == job.name()).is_empty());
    let [a, b, ..] = &nodes.ranks[..] else { panic!() };
    a.rendezvous().enter(0);
    b.rendezvous().enter(1);
    b.rendezvous().leave(1);
    b.rendezvous().answer(1, 7, crate::Answer::Others(5));
    b.rendezvous().count_mismatch_here();
    assert!(job.look());
    assert_eq!(job.rendezvous().moves().collect::<Vec<_>>(), [1, 2, 0, 0]);
    assert_eq!(job.rendezvous().processes().collect::<Vec<_>>(), [1; 4]);
    assert_eq!(job.rendezvous().answers().nth(1), Some((7, crate::Answer::Others(5))));
    assert_eq!(job.rendezvous().mismatches(), 1);
    assert!(job.seen(0, 1).is_some(), "process 1 is there");
    let asked = (a.rendezvous().asked(), b.rendezvous().asked());
    job.ask();
    assert_eq!((a.rendezvous().asked(), b.rendezvous().asked()), (asked.0 + 1, asked.1 + 1));
}

/// A node of rank 1 whose process ends after so many questions.
fn mortal(directory: &std::path::Path, mut questions: usize) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let text = format!("1 2 {port} 2 127.0.0.1");
    std::fs::write(directory.join(nodes::name("job", "1")), text).unwrap();
    std::thread::spawn(move || {
        let shm = JobShm::new(Memory::create(2).unwrap().0, 1);
        shm.rendezvous().attend(1, 1);
        shm.attend();
        let (mut stream, _) = listener.accept().unwrap();
        while questions > 0 {
            let (mut header, mut out) = ([0; 8], Vec::new());
            stream.read_exact(&mut header).unwrap();
            let (kind, count) = wire::header(header).unwrap();
            let mut bytes = vec![0; 8 * count];
            stream.read_exact(&mut bytes).unwrap();
            let words: Vec<u64> = wire::words(&bytes).collect();
            match Question::of(kind).unwrap() {
                Question::Hello => wire::put(&mut out, Reply::Fine, []),
                question => answer(&shm, question, &words, &mut out).unwrap(),
            }
            stream.write_all(&out).unwrap();
            questions -= 1;
        }
    });
}

#[test]
fn a_node_that_ends_is_lost() {
    // The greeting, who is there, who tells others: then nothing, to whatever is asked.
    let ask: [fn(&JobShm); 5] = [
        |shm| shm.join(1, 1, &mut [0; 2]),
        |shm| shm.gather(3, &[1], &mut [0; 2], |_, _| ()),
        |shm| {
            shm.post(1, &[1]);
            shm.await_delivery();
        },
        |shm| shm.release(1, 3, &[1, 1]),
        |shm| drop(shm.parts(&[0, 1], 3)),
    ];
    for (number, ask) in ask.into_iter().enumerate() {
        let name = format!("commsan-mortal-{number}-{}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&directory).unwrap();
        mortal(&directory, 3);
        let finder = NodeFinder::new(directory.clone(), "job".to_owned(), nodes::name("job", "0"));
        let (memory, _file, _) = Memory::create(2).unwrap();
        let shm = JobShm::with_others(memory, 0, Box::leak(Box::new(finder)));
        shm.rendezvous().attend(0, 1);
        shm.attend();
        assert!(shm.is_complete() && !shm.has_lost_others());
        ask(&shm);
        assert!(shm.is_off() && shm.has_lost_others(), "{number}");
        let home = shm.rendezvous().post(5, &[1; ENTRY]);
        assert_eq!(home, Posted::First, "whom nobody can tell");
        std::fs::remove_dir_all(directory).unwrap();
    }
}

#[test]
fn strangers_get_no_answer() {
    let nodes = OtherNodes::new("strangers", &[0, 1, 2, 3]);
    let file = nodes.directory.join(nodes::name("job", "0"));
    let text = std::fs::read_to_string(&file).unwrap();
    let words: Vec<&str> = text.split_whitespace().collect();
    let port: u16 = words[2].parse().unwrap();
    let token = words[..2].iter().map(|word| u64::from_str_radix(word, 16).unwrap());
    let token: Vec<u64> = token.collect();
    let node = || Connection::new(TcpStream::connect(("localhost", port)).unwrap()).unwrap();
    assert!(node().ask(Question::Hello, &[token[0], token[1] ^ 1, 4]).is_err());
    assert!(node().ask(Question::Hello, &[token[0], token[1], 5]).is_err());
    assert!(node().ask(Question::Members, &[]).is_err());
    let mut friend = node();
    friend.ask(Question::Hello, &[token[0], token[1], 4]).unwrap();
    assert_eq!(friend.ask(Question::Members, &[]).unwrap(), [0, 2]);
    let mut stream = TcpStream::connect(("localhost", port)).unwrap();
    let mut send = |kind: u32, words: &[u64]| {
        let mut frame = Vec::new();
        wire::put(&mut frame, kind, words.iter().copied());
        stream.write_all(&frame).unwrap();
        let mut answer = [0; 8];
        stream.read_exact(&mut answer).map(|()| answer)
    };
    assert_eq!(send(Question::Hello.into(), &[token[0], token[1], 4]).unwrap(), [0; 8]);
    assert!(send(99, &[]).is_err(), "no such question");
    assert_eq!(node().ask(Question::Hello, &[token[0], token[1], 4]).unwrap(), []);
}

#[test]
fn a_rank_that_does_not_come_switches_all_off() {
    let nodes = OtherNodes::new("absent", &[0, 1, 2]);
    let [a, b, ..] = &nodes.ranks[..] else { panic!() };
    assert!(!a.is_complete() && a.is_off() && b.is_off() && a.has_lost_others());
}
