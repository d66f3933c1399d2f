import type { ApiDeps } from '../../api-deps.ts';
import type { WorkflowStarter } from '../verbs/start-workflow.ts';
import type { Workflows } from '../verbs/workflow-engine.ts';

export interface WorkflowDeps extends ApiDeps {
  readonly workflowStarter: WorkflowStarter;
  readonly workflowCanceler: Workflows['canceler'];
}
