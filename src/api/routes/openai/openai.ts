import type { FastifyInstance } from 'fastify';
import type { ApiDeps } from '../../api-deps.ts';
import { chatRoutes } from './chat.ts';
import { modelRoutes } from './models.ts';
import { responsesRoutes } from './responses.ts';

/** The OpenAI API: agents are models, executions are responses. */
export function openaiRoutes(app: FastifyInstance, deps: ApiDeps): void {
  responsesRoutes(app, deps);
  chatRoutes(app, deps);
  modelRoutes(app, deps);
}
