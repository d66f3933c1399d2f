import Fastify from 'fastify';
import type { Answer } from '../contenders/bare.ts';

/** The same with Fastify's defaults, which parse the body as JSON. */

const { status, headers, body } = JSON.parse(process.env.ANSWER ?? '') as Answer;

const app = Fastify();
app.all('/*', async (_request, reply) => {
  reply.code(status).headers(headers);
  return body;
});
console.log(await app.listen({ host: '127.0.0.1', port: 0 }));
process.once('SIGTERM', () => process.exit());
