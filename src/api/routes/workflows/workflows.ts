import type { FastifyInstance } from 'fastify';
import { workflowLastRunsMax } from '../../../contract/limits.ts';
import { WorkflowDefinitionInput } from '../../../contract/workflows/workflow-definition.ts';
import * as contract from '../../../contract/workflows/workflows.ts';
import { notFound } from '../../../core/failure.ts';
import { fromId } from '../../../core/id.ts';
import type { Caller } from '../../../core/people/caller.ts';
import type { Db } from '../../../db/database.ts';
import * as flow from '../../../flow/workflow/change-workflow.ts';
import { checkWorkflow } from '../../../flow/workflow/check-workflow.ts';
import { listPins } from '../../../store/agent/pins.ts';
import { readActivity } from '../../../store/workflow/workflow-activity.ts';
import {
  findWorkflowVersion,
  listWorkflowVersions,
} from '../../../store/workflow/workflow-versions.ts';
import {
  findWorkflow,
  listWorkflows,
  type WorkflowRow,
} from '../../../store/workflow/workflows.ts';
import { agentPaths, resolveAgents } from '../../access/agent-references.ts';
import { requirePermission, requireWholeWorkspace } from '../../access/require-permission.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { etag, ifMatch } from '../../http/request/if-match.ts';
import { pageResponse, readPage } from '../../http/request/page.ts';
import { validationErrors } from '../../http/request/validate.ts';
import { type HandlerResponse, route } from '../../http/route.ts';
import * as wire from './workflow-wire.ts';

/** Workflows. A key that is restricted to agents can read the workflows that use only those agents. */
export function workflowRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const { db, historyReads } = deps;

  route(app, deps, contract.createWorkflow, async ({ body, caller }) => {
    requireWholeWorkspace(caller);
    const { name, slug = null, description = null, enabled = true, definition } = body;
    const input = { name, slug, description, enabled, definition };
    const row = await flow.createWorkflow(db, caller, input);
    const { workflowId } = wire.workflowWire(row);
    return workflowResponse(row, 201, { location: `/api/v1/workflows/${workflowId}` });
  });

  route(app, deps, contract.listWorkflows, async ({ query, caller }) => {
    const page = readPage(query);
    const { q = null, include } = query;
    if (include === 'activity') requirePermission(caller, 'read');
    const { rows, total } = await listWorkflows(db, caller, { ...page, q });
    if (include === 'activity') {
      const ids = rows.map(({ id }) => id);
      const activity = await historyReads.read(caller, (db) =>
        readActivity(db, caller, ids, workflowLastRunsMax),
      );
      const shown = rows.map((row) => wire.workflowActivityWire(row, activity.get(row.id)));
      return pageResponse('workflows', shown, { ...page, total });
    }
    return pageResponse('workflows', rows.map(wire.workflowSummaryWire), { ...page, total });
  });

  route(app, deps, contract.getWorkflow, async ({ params, caller }) => {
    return workflowResponse(await requireWorkflow(db, caller, params.workflowId));
  });

  route(app, deps, contract.updateWorkflow, async ({ params, body, caller, request }) => {
    requireWholeWorkspace(caller);
    const { workflowVersionId, ...others } = body;
    const patch = {
      ...others,
      ...(workflowVersionId !== undefined && {
        workflowVersionId: fromId('workflowVersion', workflowVersionId),
      }),
    };
    const workflowId = fromId('workflow', params.workflowId);
    return workflowResponse(
      await flow.changeWorkflow(db, caller, workflowId, patch, ifMatch(request)),
    );
  });

  route(app, deps, contract.deleteWorkflow, async ({ params, caller }) => {
    requireWholeWorkspace(caller);
    await flow.deleteWorkflow(db, caller, fromId('workflow', params.workflowId));
    return { status: 204, body: null };
  });

  route(app, deps, contract.validateWorkflow, async ({ body, caller }) => {
    const errors = validationErrors(WorkflowDefinitionInput, body.definition);
    if (errors.length > 0) {
      const problems = errors.map((error) => ({
        step: stepNameAt(body.definition, error.path),
        ...error,
      }));
      return { status: 200, body: { problems } };
    }
    await resolveAgents(deps.reads, caller, definitionAgents, body.definition);
    const input = body.definition as WorkflowDefinitionInput;
    const { problems, definition } = await checkWorkflow(db, caller, input);
    return { status: 200, body: problems.length > 0 ? { problems } : { problems, definition } };
  });
}

const definitionAgents = agentPaths(WorkflowDefinitionInput);

/** Versions and pins of workflows. */
export function workflowVersionRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const { db } = deps;

  route(app, deps, contract.createWorkflowVersion, async ({ params, body, caller }) => {
    requireWholeWorkspace(caller);
    const { label = null, notes = null, definition } = body;
    const workflowId = fromId('workflow', params.workflowId);
    const input = { label, notes, definition };
    const row = await flow.createWorkflowVersion(db, caller, workflowId, input);
    const version = wire.workflowVersionWire(row);
    const location = `/api/v1/workflows/${version.workflowId}/versions/${version.workflowVersionId}`;
    return { status: 201, body: version, headers: { location } };
  });

  route(app, deps, contract.listWorkflowVersions, async ({ params, query, caller }) => {
    const page = readPage(query);
    const workflow = await requireWorkflow(db, caller, params.workflowId);
    const { rows, total } = await listWorkflowVersions(db, caller, workflow.id, page);
    return pageResponse('versions', rows.map(wire.workflowVersionSummaryWire), { ...page, total });
  });

  route(app, deps, contract.getWorkflowVersion, async ({ params, caller }) => {
    const workflow = await requireWorkflow(db, caller, params.workflowId);
    const id = fromId('workflowVersion', params.workflowVersionId);
    const row = id && (await findWorkflowVersion(db, caller, workflow.id, id));
    if (!row) throw notFound('version', 'workflow');
    return { status: 200, body: wire.workflowVersionWire(row) };
  });

  route(app, deps, contract.listWorkflowPins, async ({ params, query, caller }) => {
    const page = readPage(query);
    const workflow = await requireWorkflow(db, caller, params.workflowId);
    const { rows, total } = await listPins(db, 'workflow', workflow.id, page);
    return pageResponse('pins', rows.map(wire.workflowPinWire), { ...page, total });
  });
}

/** The workflow with this wire id. Throws 404 if the caller cannot see it. */
export async function requireWorkflow(
  db: Db,
  caller: Caller,
  wireId: string,
): Promise<WorkflowRow> {
  const id = fromId('workflow', wireId);
  const row = id && (await findWorkflow(db, caller, id));
  if (!row) throw notFound('workflow');
  return row;
}

function workflowResponse(
  row: WorkflowRow,
  status = 200,
  headers: Record<string, string> = {},
): HandlerResponse {
  return {
    status,
    body: wire.workflowWire(row),
    headers: { ...headers, etag: etag(row.revision) },
  };
}

/** The name of the step at a path; null outside steps and for a step without a name. */
function stepNameAt(definition: unknown, path: string): string | null {
  const index = /^steps\.(\d+)\b/.exec(path)?.[1];
  if (index === undefined) return null;
  const name = (definition as { steps?: { name?: unknown }[] }).steps?.[Number(index)]?.name;
  return typeof name === 'string' ? name : null;
}
