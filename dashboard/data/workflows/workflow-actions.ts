import { useQueryClient } from '@tanstack/react-query';
import type {
  Workflow,
  WorkflowInput,
  WorkflowPatch,
  WorkflowVersion,
  WorkflowVersionInput,
} from '../../../src/client/index.ts';
import { deletion } from '../../kit/deletion.ts';
import type { Action } from '../../kit/resource.ts';
import { cueline } from '../client/client.ts';
import { useSingleFlight } from '../client/use-single-flight.ts';
import { workflowVersionQuery } from './workflows.ts';

const areas = ['workflows', 'workflow-runs', 'schedules', 'webhooks'];

/** `onCreated` runs even if the user has left the page. */
export function useCreateWorkflow(onCreated: (made: Workflow) => void) {
  const queries = useQueryClient();
  return useSingleFlight(
    {
      meta: { saved: 'Workflow created' },
      mutationFn: (workflow: WorkflowInput) => cueline.workflows.create(workflow),
      onSuccess: (made) => {
        void queries.invalidateQueries({ queryKey: ['workflows'] });
        onCreated(made);
      },
    },
    { leadsAway: true },
  );
}

export const changeWorkflow = (workflowId: string): Action<WorkflowPatch, Workflow> => ({
  run: (patch) => cueline.workflows.update(workflowId, patch),
  saved: 'Saved',
  stale: [['workflows']],
});

export interface NewVersion {
  readonly version: WorkflowVersionInput;
  readonly pin: boolean;
}

export interface AddedVersion {
  readonly version: WorkflowVersion;
  readonly pinned: boolean;
  /** Set if pinning failed. The version is saved nevertheless: saving again would duplicate it. */
  readonly pinError: unknown;
}

export function useAddVersion(workflowId: string) {
  const queries = useQueryClient();
  return useSingleFlight({
    mutationFn: async ({ version: input, pin }: NewVersion): Promise<AddedVersion> => {
      const version = await cueline.workflows.addVersion(workflowId, input);
      const { workflowVersionId } = version;
      // Immutable, so the response can seed the cache.
      const { queryKey } = workflowVersionQuery(workflowId, workflowVersionId);
      queries.setQueryData(queryKey, version);
      if (!pin) return { version, pinned: false, pinError: null };
      return cueline.workflows.update(workflowId, { workflowVersionId }).then(
        () => ({ version, pinned: true, pinError: null }),
        (pinError: unknown) => ({ version, pinned: false, pinError }),
      );
    },
    // Even after an error: the version may be saved although the response was lost.
    onSettled: () => queries.invalidateQueries({ queryKey: ['workflows'] }),
  });
}

export const deleteWorkflow = (workflowId: string, leave: () => Promise<void>) =>
  deletion(() => cueline.workflows.delete(workflowId), leave, [
    ['workflows', 'list'],
    ...areas.map((area) => [area, workflowId]),
  ]);
