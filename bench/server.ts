import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A measured server: a separate process that logs to a file, as in production. */
export interface Server {
  readonly pid: number;
  readonly url: URL;
  /** Sends SIGTERM and waits for the exit. */
  stop(): Promise<void>;
}

export interface ServerOptions {
  /** The script and its arguments. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly logFile: string;
  readonly cwd?: string;
  /** Flags of Node. */
  readonly flags?: readonly string[];
}

/** As in Cueline: without it, a process that was idle during other rounds would be slower. */
export const defaultFlags = ['--no-memory-reducer'];

/** Resolves when the server has printed its address. */
export async function startServer({
  command,
  env,
  logFile,
  cwd,
  flags = defaultFlags,
}: ServerOptions): Promise<Server> {
  const child = spawn(process.execPath, [...flags, ...command], {
    cwd,
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', openSync(logFile, 'a')],
  });
  const exited = once(child, 'exit').finally(killAtExit(child));
  const url = await new Promise<string>((resolve, reject) => {
    let output = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      const found = /http:\/\/[\d.:]+/.exec(output);
      if (found) resolve(found[0]);
    });
    exited.then(([code]) => {
      const log = readFileSync(logFile, 'utf8').slice(-2_000);
      reject(new Error(`${command.join(' ')} exited with ${code}: ${output}${log}`));
    });
  });
  return {
    pid: child.pid ?? 0,
    url: new URL(url),
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

const alive = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
});

/** Kills the child when this process exits. Returns a function that cancels it. */
export function killAtExit(child: ChildProcess): () => void {
  alive.add(child);
  return () => void alive.delete(child);
}

/** The folder of the server scripts. */
export const serversDir = join(import.meta.dirname, 'servers');
