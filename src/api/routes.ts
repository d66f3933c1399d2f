import type { FastifyInstance } from 'fastify';
import { allowRefusals, answerPreflights } from './cors.ts';
import type { ApiParts } from './parts.ts';
import { agentRoutes } from './routes/agents.ts';
import { declarationRoutes } from './routes/declaration.ts';
import { erasureRoutes } from './routes/erasures.ts';
import { executeRoutes } from './routes/execute.ts';
import { executionRoutes } from './routes/executions.ts';
import { exportRoutes } from './routes/export.ts';
import { historyRoutes } from './routes/history.ts';
import { keyRoutes } from './routes/keys.ts';
import { memberRoutes } from './routes/members.ts';
import { priceRoutes } from './routes/prices.ts';
import { promptRoutes } from './routes/prompts.ts';
import { providerRoutes } from './routes/providers.ts';
import { retentionRoutes } from './routes/retention.ts';
import { scheduleRoutes } from './routes/schedules.ts';
import { statisticsRoutes } from './routes/statistics.ts';
import { usageRoutes } from './routes/usage.ts';
import { webhookRoutes } from './routes/webhooks.ts';
import { workflowRunRoutes } from './routes/workflow-runs.ts';
import { workflowRoutes } from './routes/workflows.ts';

/** All routes of the API. */
export function apiRoutes(app: FastifyInstance, parts: ApiParts): void {
  answerPreflights(app, parts.db);
  allowRefusals(app, parts.db);
  parts.sessions.mount(app);
  executeRoutes(app, parts);
  executionRoutes(app, parts);
  historyRoutes(app, parts);
  exportRoutes(app, parts);
  promptRoutes(app, parts);
  agentRoutes(app, parts);
  workflowRoutes(app, parts);
  workflowRunRoutes(app, parts);
  scheduleRoutes(app, parts);
  webhookRoutes(app, parts);
  declarationRoutes(app, parts);
  statisticsRoutes(app, parts);
  erasureRoutes(app, parts);
  retentionRoutes(app, parts);
  keyRoutes(app, parts);
  memberRoutes(app, parts);
  usageRoutes(app, parts);
  providerRoutes(app, parts);
  priceRoutes(app, parts);
}
