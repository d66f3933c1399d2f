import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Answer } from '../contenders/bare.ts';

/** Reads each request to its end and sends the bytes in `ANSWER`. */

const { status, headers, body } = JSON.parse(process.env.ANSWER ?? '') as Answer;

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    response.writeHead(status, headers);
    response.end(body);
  });
});
server.listen(0, '127.0.0.1', () =>
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
);
process.once('SIGTERM', () => process.exit());
