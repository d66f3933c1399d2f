import { queryOptions } from '@tanstack/react-query';
import type { ExecutionFilters } from '../../../src/client/index.ts';
import { cueline } from '../../data/client/client.ts';
import { isForbidden, isNotFound } from '../../data/client/error-status.ts';
import { formatTime } from '../../data/text/format.ts';

/** The page of a resource whose identifier was pasted. */
export interface Identified {
  readonly id: string;
  readonly label: string;
  /** Null if nothing was found; the label says where. */
  readonly to: string | null;
  readonly search?: Readonly<Record<string, unknown>>;
}

// Providers choose the form of the identifiers of requests.
export const identifierForm =
  /^(?:(exe|agt|prm|wfl|wfr|bat|key|evt|end)_[0-9a-z]{26}|(req)_\S{8,196})$/;

/** Null if the text is no identifier, or nothing that the user sees has it. */
export const identifiedQuery = (text: string) =>
  queryOptions({
    queryKey: ['identified', text],
    queryFn: async ({ signal }): Promise<Identified | null> => {
      try {
        return await find(text, signal);
      } catch (error) {
        // Only owners see endpoints and their events.
        if (isNotFound(error) || isForbidden(error)) return null;
        throw error;
      }
    },
    enabled: identifierForm.test(text),
  });

async function find(id: string, signal: AbortSignal): Promise<Identified | null> {
  const [, kind, request] = identifierForm.exec(id) ?? [];
  switch (kind ?? request) {
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
    case 'end': {
      const { url } = await cueline.endpoints.get(id, { signal });
      return { id, label: `Endpoint ${url ?? 'for e-mail'}`, to: `/settings/endpoints/${id}` };
    }
    case 'key':
      return findKey(id, signal);
    case 'wfr':
      return findRun(id, signal);
    case 'bat':
      return findBatch(id, signal);
    case 'evt':
      return findEvent(id, signal);
    case 'req':
      return findRequest(id, signal);
    default:
      return (await findExecution({ executionId: id, include: 'processing' }, signal)).found;
  }
}

async function findExecution(query: ExecutionFilters, signal: AbortSignal) {
  const page = { ...query, limit: 1, omit: 'bodies' as const };
  const { body } = await cueline.request('GET /api/v1/executions', { query: page }, { signal });
  const [execution] = body.executions;
  if (!execution) return { found: null, searchedTo: body.searchedTo };
  const { executionId, agentId, agentName, status } = execution;
  const label = `Execution of ${agentName}, ${status}`;
  return { found: { id: executionId, label, to: `/history/${agentId}/${executionId}` } };
}

/** By the identifier that the provider gave to the last request. That of a request to Cueline itself is only in its log. */
async function findRequest(id: string, signal: AbortSignal): Promise<Identified> {
  const query = { providerRequestId: id, playground: ['true', 'false'] } as const;
  const { found, searchedTo } = await findExecution(query, signal);
  const since = searchedTo === undefined ? '' : ` since ${formatTime(searchedTo)}`;
  const label = `No record${since} has this request of a provider. A request to Cueline is in the server's log.`;
  return found ?? { id, label, to: null };
}

const pageMax = 100;

/** The list of keys has no search. */
async function findKey(id: string, signal: AbortSignal): Promise<Identified | null> {
  for (let offset = 0; ; offset += pageMax) {
    const { keys, pagination } = await cueline.keys.list({ limit: pageMax, offset }, { signal });
    const key = keys.find(({ apiKeyId }) => apiKeyId === id);
    if (key) {
      const search = key.revokedAt === null ? {} : { revoked: true };
      return { id, label: `Key ${key.name}`, to: '/keys', search };
    }
    if (!pagination.hasMore) return null;
  }
}

async function findRun(id: string, signal: AbortSignal): Promise<Identified | null> {
  const { workflows } = await cueline.workflows.list({ workflowRunId: id }, { signal });
  const [workflow] = workflows;
  if (!workflow) return null;
  const to = `/workflows/${workflow.workflowId}/runs/${id}`;
  return { id, label: `Run of ${workflow.name}`, to };
}

/** By its executions, which know their agent. */
async function findBatch(id: string, signal: AbortSignal): Promise<Identified | null> {
  const query = { batchId: id, include: 'processing' as const, limit: 1 };
  const { body } = await cueline.request('GET /api/v1/executions', { query }, { signal });
  const [execution] = body.executions;
  if (!execution) return null;
  const { agentId, agentName } = execution;
  return {
    ...{ id, label: `Batch of ${agentName}` },
    to: `/agents/${agentId}/history`,
    search: { batchId: id },
  };
}

/** By the log of the endpoints, at the time that is in the identifier. */
async function findEvent(id: string, signal: AbortSignal): Promise<Identified | null> {
  const atMs = [...id.slice(4, 14)].reduce((ms, char) => 32 * ms + digits.indexOf(char), 0);
  const [startDate, endDate] = [atMs - 1_000, atMs + 1_000].map((ms) => new Date(ms).toISOString());
  const endpoints = await cueline.endpoints.list({ signal });
  for (const { endpointId } of endpoints) {
    const query = { startDate, endDate, limit: pageMax };
    const { deliveries } = await cueline.endpoints.deliveries(endpointId, query, { signal });
    const delivery = deliveries.find(({ eventId }) => eventId === id);
    if (delivery) {
      return { id, label: `Event ${delivery.type}`, to: `/settings/endpoints/${endpointId}` };
    }
  }
  return null;
}

/** Of an identifier, by value. */
const digits = '0123456789abcdefghjkmnpqrstvwxyz';
