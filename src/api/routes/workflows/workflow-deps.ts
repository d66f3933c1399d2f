import type { WorkflowStarter } from '../../../flow/workflow/start-workflow.ts';
import type { Workflows } from '../../../flow/workflow/workflows.ts';
import type { ApiDeps } from '../../api-deps.ts';

export interface WorkflowDeps extends ApiDeps {
  readonly workflowStarter: WorkflowStarter;
  readonly workflowCanceler: Workflows['canceler'];
}
