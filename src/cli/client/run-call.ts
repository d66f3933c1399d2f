import { type Cueline, CuelineError, createClient } from '../../client/index.ts';
import { StartupFailure } from '../../core/startup-failure.ts';
import { enterCallerFolder } from '../../process/config/caller-folder.ts';
import { readConfig } from '../../process/config/config.ts';
import { runWithLifetime } from '../process-lifetime.ts';
import { CommandFailure, Exit, OutputClosed } from './command-failure.ts';
import { parse } from './exact-json.ts';
import { oneLine } from './print.ts';

/** Dependencies of a client command. */
export interface Call {
  readonly cueline: Cueline;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  readonly json: boolean;
}

/** Options of every client command. */
export interface CallOptions {
  readonly url?: string;
  readonly key?: string;
  readonly json?: boolean;
}

/** Time for a last request to the server after an interrupt. */
const shutdownMsMax = 10_000;

/** Runs one client command and exits the process. `command` receives only its own options. */
export async function runCall<Own>(
  { url, key, json = false, ...own }: CallOptions & Own,
  command: (call: Call, options: Own) => Promise<void>,
  errorCode = 1,
): Promise<never> {
  enterCallerFolder();
  const exitCodeOf = (error: unknown) => (error instanceof Exit ? error.code : errorCode);
  const code = await runWithLifetime(
    ({ stopping }) => command({ cueline: open(url, key), signal: stopping, json }, own as Own),
    { shutdownMsMax, onMessage: () => {}, onError: reportError, exitCodeOf },
  );
  process.exit(code);
}

function open(url: string | undefined, key: string | undefined): Call['cueline'] {
  const { client, port } = readConfig();
  const given = key ?? client.apiKey;
  if (!given) throw new CommandFailure('No API key: set CUELINE_KEY or pass --key.');
  const baseURL = url ?? client.url ?? `http://127.0.0.1:${port}`;
  try {
    return createClient({ baseURL, key: given, json: { parse, stringify: JSON.stringify } });
  } catch (error) {
    // A malformed key.
    throw new CommandFailure((error as Error).message, { cause: error });
  }
}

/** Reports an expected failure in one line, any other error with its stack. */
export function reportError(error: unknown): void {
  if (error instanceof OutputClosed || error instanceof Exit) return;
  if (error instanceof CuelineError) {
    const { message, code, requestId } = error;
    const details = requestId === null ? code : `${code}, ${requestId}`;
    console.error(`cueline: ${oneLine(message)} (${details})`);
  } else if (error instanceof CommandFailure) console.error(`cueline: ${oneLine(error.message)}`);
  else if (error instanceof StartupFailure) console.error(`cueline: ${error.message}`);
  else console.error(error);
}
