import type { FastifyInstance } from 'fastify';
import type { ApiDeps } from './api-deps.ts';
import { allowErrorResponses, handlePreflights } from './http/cors.ts';
import { agentRoutes } from './routes/agents/agents.ts';
import { declarationRoutes } from './routes/agents/declaration.ts';
import { promptRoutes } from './routes/agents/prompts.ts';
import { erasureRoutes } from './routes/executions/erasures.ts';
import { executeRoutes } from './routes/executions/execute.ts';
import { executionRoutes } from './routes/executions/executions.ts';
import { exportRoutes } from './routes/executions/export.ts';
import { historyRoutes } from './routes/executions/history.ts';
import { retentionRoutes } from './routes/executions/retention.ts';
import { statisticsRoutes } from './routes/executions/statistics.ts';
import { scheduleRoutes } from './routes/workflows/schedules.ts';
import { webhookRoutes } from './routes/workflows/webhooks.ts';
import { workflowRunRoutes } from './routes/workflows/workflow-runs.ts';
import { workflowRoutes } from './routes/workflows/workflows.ts';
import { keyRoutes } from './routes/workspace/keys.ts';
import { memberRoutes } from './routes/workspace/members.ts';
import { priceRoutes } from './routes/workspace/prices.ts';
import { providerRoutes } from './routes/workspace/providers.ts';
import { usageRoutes } from './routes/workspace/usage.ts';

/** All routes of the API. */
export function apiRoutes(app: FastifyInstance, parts: ApiDeps): void {
  handlePreflights(app, parts.db);
  allowErrorResponses(app, parts.db);
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
