import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/**
 * What whoever begins a run of the tests hands out to its processes, over HTTP: the address of the one browser, the next
 * file to run.
 */

/** In the environment: where processes ask. */
export const handOutVariable = 'CUELINE_TEST_HAND_OUT';

export interface HandOut {
  /** The browser that all files share, as a start takes seconds; it is started when the first file asks. */
  browser(): Promise<string>;
  /** Null once none is left. */
  file(): string | null;
}

/** Answers where to ask, and how to end it. */
export async function handOut(
  things: HandOut,
): Promise<{ readonly address: string; readonly end: () => void }> {
  const server = createServer(async (request, response) => {
    try {
      const thing = await things[request.url?.slice(1) as keyof HandOut]();
      response.end(JSON.stringify(thing));
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  server.listen(0, '127.0.0.1').unref();
  await once(server, 'listening');
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    end() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Not where a file is run by itself. */
export function isHandedOut(): boolean {
  return process.env[handOutVariable] !== undefined;
}

export async function askFor<Thing extends keyof HandOut>(
  thing: Thing,
): Promise<Awaited<ReturnType<HandOut[Thing]>>> {
  const address = process.env[handOutVariable];
  if (!address) throw new Error('nothing is handed out: give node --test-global-setup');
  // A connection for each question: one that is kept may be closed while a test computes for seconds. And not by `fetch`,
  // which a test may have changed.
  const asked = get(address + thing, { agent: false });
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  const told = await text(response);
  if (response.statusCode !== 200) throw new Error(told);
  return JSON.parse(told);
}
