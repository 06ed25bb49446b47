//! Knows the shell texts that both kinds of sandbox run: taking files, putting files, waiting for a port, sweeping.
//! Must not know how a command gets into a sandbox.
//! Start at `take`.

use std::time::Duration;

/// Variables that no command of the harness inherits from a sandbox.
const CLEARED: [&str; 4] = ["/usr/bin/env", "-i", "PATH=/usr/bin:/bin", "LC_ALL=C"];

fn argv(parts: &[&str]) -> Vec<String> {
    parts.iter().map(ToString::to_string).collect()
}

/// Packs what exists of `paths` below `folder`; at most `cap + 1` bytes come out. Ends with code 0 whatever tar met:
/// what could not be read is not in the stream.
pub(super) fn take(folder: &str, paths: &[&str], cap: u64) -> Vec<String> {
    let script = r#"cd "$1" || exit 3
cap=$2; shift 2; found=()
for path; do if [ -e "$path" ] || [ -L "$path" ]; then found+=("$path"); fi; done
if [ ${#found[@]} -eq 0 ]; then head -c 1024 /dev/zero; exit 0; fi
/bin/tar -c --format=ustar --sort=name --numeric-owner -f - -- "${found[@]}" 2>/dev/null | head -c "$cap"
exit 0"#;
    let mut all = argv(&CLEARED);
    all.extend(argv(&["/bin/bash", "-c", script, "take", folder]));
    all.push((cap + 1).to_string());
    all.extend(paths.iter().map(ToString::to_string));
    all
}

/// Unpacks standard input into `folder`.
pub(super) fn put(folder: &str) -> Vec<String> {
    let mut all = argv(&CLEARED);
    all.extend(argv(&[
        "/bin/tar",
        "-x",
        "--no-same-owner",
        "-m",
        "-C",
        folder,
        "-f",
        "-",
    ]));
    all
}

/// Kills every process of the caller's uid but itself and the first; prints how many were there and how many are left.
pub(super) fn sweep() -> Vec<String> {
    let script = r#"count() {
  seen=0
  for status in /proc/[0-9]*/status; do
    while read -r key first second rest; do
      case $key in
        State:) [ "$first" = Z ] && continue 2 ;;
        Pid:) process=$first ;;
        Uid:) if [ "$second" = "$UID" ] && [ "$process" != "$$" ] && [ "$process" != 1 ]; then seen=$((seen + 1)); fi; continue 2 ;;
      esac
    done 2>/dev/null <"$status"
  done 2>/dev/null
}
count; before=$seen
for pass in 1 2 3; do
  [ "$seen" -eq 0 ] && break
  kill -9 -1 2>/dev/null
  for wait in 1 2 3 4 5 6 7 8 9 10; do
    count
    [ "$seen" -eq 0 ] && break
    sleep 0.02
  done
done
echo "$before $seen""#;
    let mut all = argv(&CLEARED);
    all.extend(argv(&["/bin/bash", "-c", script]));
    all
}

/// Sends a signal to every process of the caller's uid but itself and the first.
pub(super) fn signal(name: &str) -> Vec<String> {
    let mut all = argv(&CLEARED);
    all.extend(argv(&[
        "/bin/bash",
        "-c",
        r#"kill "-$1" -1 2>/dev/null; exit 0"#,
        "signal",
        name,
    ]));
    all
}

/// Ends once something listens on a TCP port of the sandbox, without connecting to it.
pub(super) fn await_port(port: u16) -> Vec<String> {
    let script = r#"while ! grep -q -s ":$1 [0-9A-F]*:0000 0A " /proc/net/tcp /proc/net/tcp6; do sleep 0.1; done"#;
    let mut all = argv(&CLEARED);
    all.extend(argv(&["/bin/bash", "-c", script, "wait"]));
    all.push(format!("{port:04X}"));
    all
}

/// Wraps a command so that it is told to end at `limit` and killed 5 s later. A folder that is gone is its failure (125).
pub(super) fn limited(limit: Duration, directory: &str, command: &[String]) -> Vec<String> {
    let mut all = argv(&["/usr/bin/timeout", "-k", "5"]);
    all.push(format!("{:.3}", limit.as_secs_f64()));
    all.extend(argv(&["/usr/bin/env", "-C", directory]));
    all.extend_from_slice(command);
    all
}

/// Whether an exit code and a duration speak of a command that was stopped at its limit.
pub(super) fn reached(limit: Duration, code: i64, elapsed: Duration) -> bool {
    matches!(code, 124 | 137) && elapsed + Duration::from_millis(50) >= limit
}
