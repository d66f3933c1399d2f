import type { FastifyInstance } from 'fastify';
import { mcpRoutes } from '../faces/mcp/mcp.ts';
import type { McpDeps } from '../faces/mcp/mcp-request.ts';
import { chatRoutes } from '../faces/openai/chat.ts';
import { modelRoutes } from '../faces/openai/models-routes.ts';
import { responsesRoutes } from '../faces/openai/responses.ts';
import { agentRoutes } from '../features/agents/routes/agents-routes.ts';
import { refusalRoutes } from '../features/agents/routes/refusals-routes.ts';
import { batchRoutes } from '../features/batches/batches-routes.ts';
import { uploadRoutes } from '../features/batches/upload.ts';
import { budgetRoutes } from '../features/budgets/routes/budgets-routes.ts';
import { declarationRoutes } from '../features/declaration/declaration-routes.ts';
import { alertRoutes } from '../features/events/routes/alerts-routes.ts';
import { endpointRoutes, eventRoutes } from '../features/events/routes/endpoints-routes.ts';
import { estimateRoutes } from '../features/executions/routes/estimate-routes.ts';
import { executeRoutes } from '../features/executions/routes/execute-routes.ts';
import { executionRoutes } from '../features/executions/routes/executions-routes.ts';
import { executionStreamRoutes } from '../features/executions/routes/stream.ts';
import { erasureRoutes } from '../features/history/routes/erasures-routes.ts';
import { exportRoutes } from '../features/history/routes/export.ts';
import { historyRoutes } from '../features/history/routes/history.ts';
import { retentionRoutes } from '../features/history/routes/retention-routes.ts';
import { sessionRoutes } from '../features/history/routes/sessions-routes.ts';
import { statisticsRoutes } from '../features/history/routes/statistics-routes.ts';
import { allowErrorResponses, handlePreflights } from '../features/people/access/preflights.ts';
import type { SessionDeps } from '../features/people/access/session-deps.ts';
import { auditRoutes } from '../features/people/routes/audit-routes.ts';
import { invitationRoutes } from '../features/people/routes/invitations-routes.ts';
import { keyRoutes } from '../features/people/routes/keys-routes.ts';
import { memberRoutes } from '../features/people/routes/members-routes.ts';
import { usageRoutes } from '../features/people/routes/usage-routes.ts';
import { viewRoutes } from '../features/people/routes/views-routes.ts';
import { promptRoutes } from '../features/prompts/prompts-routes.ts';
import { priceRoutes } from '../features/providers/prices-routes.ts';
import { providerRoutes } from '../features/providers/providers-routes.ts';
import {
  type ToolServerRouteDeps,
  toolServerRoutes,
} from '../features/tools/routes/tool-servers-routes.ts';
import { scheduleRoutes } from '../features/workflows/routes/schedules-routes.ts';
import { webhookRoutes } from '../features/workflows/routes/webhooks-routes.ts';
import { workflowRunStreamRoutes } from '../features/workflows/routes/workflow-run-stream.ts';
import { workflowRunRoutes } from '../features/workflows/routes/workflow-runs-routes.ts';
import {
  workflowRoutes,
  workflowVersionRoutes,
} from '../features/workflows/routes/workflows-routes.ts';

/** What the routes of all features depend on. */
export type AllDeps = McpDeps & SessionDeps & ToolServerRouteDeps;

/** Registers all routes of the API. */
export function apiRoutes(app: FastifyInstance, deps: AllDeps): void {
  handlePreflights(app, deps.db);
  allowErrorResponses(app, deps.db);
  deps.sessions.mount(app);
  executeRoutes(app, deps);
  estimateRoutes(app, deps);
  executionRoutes(app, deps);
  responsesRoutes(app, deps);
  chatRoutes(app, deps);
  modelRoutes(app, deps);
  executionStreamRoutes(app, deps);
  historyRoutes(app, deps);
  sessionRoutes(app, deps);
  exportRoutes(app, deps);
  uploadRoutes(app, deps);
  batchRoutes(app, deps);
  promptRoutes(app, deps);
  agentRoutes(app, deps);
  refusalRoutes(app, deps);
  workflowRoutes(app, deps);
  workflowVersionRoutes(app, deps);
  workflowRunRoutes(app, deps);
  workflowRunStreamRoutes(app, deps);
  scheduleRoutes(app, deps);
  webhookRoutes(app, deps);
  endpointRoutes(app, deps);
  eventRoutes(app, deps);
  alertRoutes(app, deps);
  toolServerRoutes(app, deps);
  mcpRoutes(app, deps);
  declarationRoutes(app, deps);
  statisticsRoutes(app, deps);
  erasureRoutes(app, deps);
  retentionRoutes(app, deps);
  auditRoutes(app, deps);
  keyRoutes(app, deps);
  memberRoutes(app, deps);
  invitationRoutes(app, deps);
  usageRoutes(app, deps);
  budgetRoutes(app, deps);
  viewRoutes(app, deps);
  providerRoutes(app, deps);
  priceRoutes(app, deps);
}
