import { CuelineError, createClient } from '../../client/index.ts';
import { readConfig } from '../../config.ts';
import { StartupFailure } from '../../core/startup-failure.ts';
import type { Call } from '../client/call.ts';
import { parse } from '../client/exact-json.ts';
import { CommandFailure, OutputClosed } from '../client/failure.ts';
import { oneLine } from '../client/print.ts';
import { live } from '../server/process-lifetime.ts';

/** Which server is called, and how it is answered: the options that every such command has. */
interface CallOptions {
  readonly url?: string;
  readonly key?: string;
  readonly json?: boolean;
}

/** An interrupted command says a last word to the server, and no more. */
const endMsMax = 10_000;

/** Runs one command that calls a server to its end, and with it the process. It is given its own options alone. */
export async function runCall<Own>(
  { url, key, json = false, ...own }: CallOptions & Own,
  command: (call: Call, own: Own) => Promise<void>,
): Promise<never> {
  const code = await live(
    ({ ending }) => command({ cueline: open(url, key), signal: ending, json }, own as Own),
    { endMsMax, onWord: () => {}, onError: complain },
  );
  process.exit(code);
}

function open(url: string | undefined, key: string | undefined): Call['cueline'] {
  const { client, port } = readConfig();
  const given = key ?? client.apiKey;
  if (!given) throw new CommandFailure('There is no API key: set CUELINE_KEY to one.');
  const baseURL = url ?? client.url ?? `http://127.0.0.1:${port}`;
  return createClient({ baseURL, key: given, json: { parse, stringify: JSON.stringify } });
}

function complain(error: unknown): void {
  if (error instanceof OutputClosed) return;
  if (error instanceof CuelineError) {
    const { message, code, requestId } = error;
    const named = requestId === null ? code : `${code}, ${requestId}`;
    console.error(`cueline: ${oneLine(message)} (${named})`);
  } else if (error instanceof CommandFailure) console.error(`cueline: ${oneLine(error.message)}`);
  else if (error instanceof StartupFailure) console.error(`cueline: ${error.message}`);
  else console.error(error);
}
