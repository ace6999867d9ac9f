//! When findings were found, or happened, compared with when the program says that it made the
//! mistake.

use crate::built::{Mpi, Run, Work};
use crate::profiled::profile;
use commsan_profile::Profile;
use commsan_profile::api::{FindingMoment, MomentOf};
use commsan_rundir::RunDirectory;
use std::fs;

/// Each rank's moment is between two looks at the clock around the mistake, in the thread that
/// makes it.
#[test]
fn a_finding_has_the_moment_of_the_mistake() {
    let work = Work::new("found", Mpi::OpenMpi);
    let program = work.compile("profile/found.c", &["-g", "-pthread"]);
    let out = work.path("measured");
    let run = profile(&work, &["--check"], 3, &program, &[out.to_str().unwrap()]);
    run.finds(&["CS-BUF-01 spoil"]);
    let report = run.report();
    let moments = report["findings"][0]["moments"].as_array().unwrap();
    let measured = fs::read_to_string(&out).unwrap();
    assert_eq!(measured.lines().count(), 3, "{measured}");
    // Ranks make it one after the other.
    for (moment, line) in moments.iter().zip(measured.lines()) {
        let known: Vec<u64> = line.split(',').map(|field| field.parse().unwrap()).collect();
        let [rank, before, after] = known[..] else { panic!("{line}") };
        let time = moment["time"].as_u64().unwrap();
        assert_eq!(moment["rank"], rank, "{moments:?}");
        assert!(before <= time && time <= after, "{time}: {line}");
        assert_eq!(moment["thread"] == 0, rank < 2, "{moments:?}");
    }
    assert_eq!(moments.len(), 3, "{moments:?}");
}

/// The moments of the only finding, as the viewer has them, and when the run began in nanoseconds
/// since 1970: a quarter of a microsecond may be lost of that.
fn moments(run: &Run) -> (Vec<FindingMoment>, u64) {
    let directory = RunDirectory::open(&run.directory).unwrap();
    let answer = Profile::read(&directory, &mut |_| ()).unwrap().run();
    let [finding] = &*answer.findings else { panic!("{:?}", answer.findings) };
    (finding.moments.clone(), (answer.began * 1e9) as u64)
}

/// What a rank has measured: before and after.
fn measured(work: &Work, rank: usize) -> (u64, u64) {
    let text = fs::read_to_string(work.path(&format!("measured.{rank}"))).unwrap();
    let known: Vec<u64> = text.trim().split(',').map(|field| field.parse().unwrap()).collect();
    (known[1], known[2])
}

/// Of three messages from one line the third is the one that is lost.
#[test]
fn a_lost_message_has_the_moment_of_its_send() {
    let work = Work::new("concluded", Mpi::OpenMpi);
    let program = work.compile("profile/concluded.c", &["-g"]);
    let out = work.path("measured");
    let arguments = [out.to_str().unwrap(), "lost"];
    let run = profile(&work, &["--check"], 2, &program, &arguments);
    run.finds(&["CS-MSG-02 main"]);
    let (moments, began) = moments(&run);
    let [moment] = &*moments else { panic!("{moments:?}") };
    assert_eq!((moment.place, moment.thread, moment.what), (0, 0, MomentOf::Called));
    let (before, after) = measured(&work, 0);
    let time = began + moment.time;
    assert!(before <= time + 1000 && time <= after + 1000, "{before} {time} {after}");
}

/// Each rank has made one call alone at the line that the finding names.
#[test]
fn a_message_of_another_type_has_the_moments_of_both_calls() {
    let work = Work::new("types", Mpi::OpenMpi);
    let program = work.compile("profile/concluded.c", &["-g"]);
    let out = work.path("measured");
    let run = profile(&work, &["--check"], 2, &program, &[out.to_str().unwrap(), "types"]);
    run.finds(&["CS-MSG-01 main"]);
    let (moments, began) = moments(&run);
    assert_eq!(moments.len(), 2, "{moments:?}");
    for (rank, moment) in moments.iter().enumerate() {
        assert_eq!((moment.place, moment.what), (rank, MomentOf::Called));
        let (before, after) = measured(&work, rank);
        let time = began + moment.time;
        assert!(before <= time + 1000 && time <= after + 1000, "{before} {time} {after}");
    }
}

/// Ranks are seen to stand still soon after they begin to wait.
#[test]
fn a_deadlock_has_the_moment_at_which_each_rank_stands_still() {
    let work = Work::new("stuck", Mpi::OpenMpi);
    let program = work.compile("profile/concluded.c", &["-g"]);
    let out = work.path("measured");
    let arguments = [out.to_str().unwrap(), "stuck"];
    let run = profile(&work, &["--check", "--stuck-after", "2"], 2, &program, &arguments);
    run.finds(&["CS-DLK-01 main"]);
    let (moments, began) = moments(&run);
    assert_eq!(moments.len(), 2, "{moments:?}");
    for (rank, moment) in moments.iter().enumerate() {
        assert_eq!((moment.place, moment.what), (rank, MomentOf::Stuck));
        let (before, _) = measured(&work, rank);
        let time = began + moment.time;
        // The launcher looks four times a second, unless the machine is busy.
        assert!(before <= time + 1000 && time < before + 2_000_000_000, "{before} {time}");
    }
}
