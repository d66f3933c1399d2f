import { queryOptions } from '@tanstack/react-query';
import { cueline } from '../../data/client/client.ts';
import { isNotFound } from '../../data/client/error-status.ts';

/** The page of a resource whose identifier was pasted. */
export interface Identified {
  readonly id: string;
  readonly label: string;
  readonly to: string;
}

const form = /^(exe|agt|prm|wfl)_[0-9a-z]{26}$/;

/** Null if the text is no identifier, or nothing that the user sees has it. */
export const identifiedQuery = (text: string) =>
  queryOptions({
    queryKey: ['identified', text],
    queryFn: async ({ signal }): Promise<Identified | null> => {
      try {
        return await find(text, signal);
      } catch (error) {
        if (isNotFound(error)) return null;
        throw error;
      }
    },
    enabled: form.test(text),
  });

async function find(id: string, signal: AbortSignal): Promise<Identified | null> {
  switch (form.exec(id)?.[1]) {
    case 'agt': {
      const { agentName } = await cueline.agents.get(id, { signal });
      return { id, label: `Agent ${agentName}`, to: `/agents/${id}` };
    }
    case 'prm': {
      const { name } = await cueline.prompts.get(id, { signal });
      return { id, label: `Prompt ${name}`, to: `/prompts/${id}` };
    }
    case 'wfl': {
      const { name } = await cueline.workflows.get(id, { signal });
      return { id, label: `Workflow ${name}`, to: `/workflows/${id}` };
    }
    default: {
      const query = { executionId: id, include: 'processing' as const, limit: 1 };
      const { body } = await cueline.request('GET /api/v1/executions', { query }, { signal });
      const [execution] = body.executions;
      if (!execution) return null;
      const { agentId, agentName, status } = execution;
      return { id, label: `Execution of ${agentName}, ${status}`, to: `/history/${agentId}/${id}` };
    }
  }
}
