import { Agent, request } from 'node:http';

/** A keep-alive client that retries at the next address only if a connection is refused. */

export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: any response body
  readonly body: any;
}

export interface KeepAliveClient {
  /** The number of refused connections. */
  readonly refused: number;
  /** Rejects if the request fails in any other way. */
  send(method: string, path: string, body?: object): Promise<Answer>;
  close(): void;
}

export function keepAliveClient(options: {
  readonly key: string;
  /** Read before each try; addresses are used round-robin. */
  readonly urls: () => readonly string[];
  /** The index of the first address. */
  readonly first: number;
}): KeepAliveClient {
  // One connection per address, so that none is idle when its process shuts down.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let next = options.first;
  let refused = 0;

  function once(url: string, method: string, path: string, body?: object): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const sent = request(`${url}${path}`, {
        agent,
        method,
        headers: {
          authorization: `Bearer ${options.key}`,
          ...(body && { 'content-type': 'application/json' }),
        },
      });
      sent.on('error', reject);
      sent.on('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          try {
            const text = Buffer.concat(chunks).toString();
            resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) });
          } catch (error) {
            reject(error);
          }
        });
      });
      sent.end(body && JSON.stringify(body));
    });
  }

  return {
    get refused() {
      return refused;
    },
    async send(method, path, body) {
      for (;;) {
        const urls = options.urls();
        const url = urls[next++ % urls.length] ?? '';
        try {
          return await once(url, method, path, body);
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED') throw error;
          refused++;
        }
      }
    },
    close: () => agent.destroy(),
  };
}
