import type { WorkflowDeps } from '../../features/workflows/routes/workflow-deps.ts';
import type { OpenCalls } from './open-calls.ts';

export interface McpDeps extends WorkflowDeps {
  /** Calls over MCP that wait for their results. */
  readonly openCalls: OpenCalls;
}
