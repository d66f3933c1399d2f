/**
 * After some quiet seconds V8 gives unused memory back, and with it goes what its compiler has learned: the calls that
 * come next cost up to twice as much, for many seconds. A server is quiet between bursts, and is to be quick in them. V8
 * reads its flag only when a process begins, so one that serves begins once more, under the same pid. Whoever names the
 * flag, as in `node --memory-reducer dist/main.js start`, decides.
 */
export function stayWarm(): void {
  const { argv, env, execArgv, execPath, platform } = process;
  const [, script = '', command = ''] = argv;
  if (!['start', 'api', 'worker'].includes(command)) return;
  // The channel to a parent that forked it would not outlive the beginning.
  if (platform === 'win32' || process.connected) return;
  if (execArgv.some((flag) => /^--(no-?)?memory[-_]reducer$/.test(flag))) return;
  const flags = ['--no-memory-reducer', ...execArgv];
  try {
    process.execve?.(execPath, [execPath, ...flags, script, ...argv.slice(2)], env);
  } catch {
    // Where that is not allowed it serves as it is.
  }
}
