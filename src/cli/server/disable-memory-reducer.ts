/**
 * Restarts a server process with `--no-memory-reducer`, under the same process id.
 *
 * When idle for some seconds, V8 frees memory and with it compiled code; requests after that cost
 * up to twice as much for many seconds. V8 reads the flag only at process start. An explicit flag,
 * as in `node --memory-reducer dist/main.js start`, is respected.
 */
export function disableMemoryReducer(): void {
  const { argv, env, execArgv, execPath, platform } = process;
  const [, script = '', command = ''] = argv;
  if (!['start', 'api', 'worker'].includes(command)) return;
  // The IPC channel to a parent process would not survive the restart.
  if (platform === 'win32' || process.connected) return;
  if (execArgv.some((flag) => /^--(no-?)?memory[-_]reducer$/.test(flag))) return;
  const flags = ['--no-memory-reducer', ...execArgv];
  try {
    process.execve?.(execPath, [execPath, ...flags, script, ...argv.slice(2)], env);
  } catch {
    // Without permission to restart, the server runs with the default flags.
  }
}
