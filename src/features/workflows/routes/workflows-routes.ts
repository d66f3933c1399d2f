import type { FastifyInstance } from 'fastify';
import { requireFound } from '../../../core/failure.ts';
import { storedId, toId } from '../../../core/id.ts';
import type { Caller } from '../../../core/people/caller.ts';
import type { Db } from '../../../db/database.ts';
import { workflowLastRunsMax } from '../../../http/contract/contract-limits.ts';
import { agentPaths } from '../../../http/request/agent-paths.ts';
import { etag, ifMatch } from '../../../http/request/if-match.ts';
import { pageOf, readPage } from '../../../http/request/page-query.ts';
import { validationErrors } from '../../../http/request/validate.ts';
import { route } from '../../../http/route.ts';
import { listPins, type PinRow } from '../../agents/statements/pins.ts';
import { resolveAgents } from '../../people/access/agent-references.ts';
import {
  requirePermission,
  requireWholeWorkspace,
} from '../../people/access/require-permission.ts';
import { WorkflowDefinitionInput } from '../contract/workflow-definition.ts';
import * as contract from '../contract/workflows-contract.ts';
import { storedProblems } from '../rules/check-definition.ts';
import { readActivity } from '../statements/workflow-activity.ts';
import {
  findWorkflowVersion,
  listWorkflowVersions,
  type WorkflowVersionSummaryRow,
} from '../statements/workflow-versions.ts';
import { findWorkflow, listWorkflows, type WorkflowRow } from '../statements/workflows.ts';
import * as flow from '../verbs/change-workflow.ts';
import { checkWorkflow } from '../verbs/check-workflow.ts';
import type { WorkflowDeps } from './workflow-deps.ts';

/** Workflows. A key that is restricted to agents can read the workflows that use only those agents. */
export function workflowRoutes(app: FastifyInstance, deps: WorkflowDeps): void {
  const { db, historyReads } = deps;

  route(app, deps, contract.createWorkflow, async ({ body, caller }) => {
    requireWholeWorkspace(caller);
    const defaults = { slug: null, description: null, enabled: true };
    const row = await flow.createWorkflow(db, caller, { ...defaults, ...body });
    return workflowResponse(row, { location: `/api/v1/workflows/${toId('workflow', row.id)}` });
  });

  route(app, deps, contract.listWorkflows, async ({ query, caller }) => {
    const page = readPage(query);
    const { q = null, workflowRunId, include } = query;
    const runId = workflowRunId === undefined ? null : storedId('workflowRun', workflowRunId);
    if (include === 'activity' || runId !== null) requirePermission(caller, 'read');
    const { rows, total } = await listWorkflows(db, caller, { ...page, q, runId });
    if (include === 'activity') {
      const ids = rows.map(({ id }) => id);
      const activity = await historyReads.read(caller, (db) =>
        readActivity(db, caller, ids, workflowLastRunsMax),
      );
      const shown = rows.map((row) => ({ ...row, ...(activity.get(row.id) ?? noActivity) }));
      return { result: pageOf('workflows', page, { rows: shown, total }) };
    }
    return { result: pageOf('workflows', page, { rows, total }) };
  });

  route(app, deps, contract.getWorkflow, async ({ ids, caller }) => {
    return workflowResponse(await requireWorkflow(db, caller, ids.workflowId));
  });

  route(app, deps, contract.updateWorkflow, async ({ ids, body, caller, request }) => {
    requireWholeWorkspace(caller);
    const { workflowVersionId: pinned, ...others } = body;
    const version = pinned !== undefined && {
      workflowVersionId: storedId('workflowVersion', pinned),
    };
    const patch = { ...others, ...version };
    return workflowResponse(
      await flow.changeWorkflow(db, caller, ids.workflowId, patch, ifMatch(request)),
    );
  });

  route(app, deps, contract.deleteWorkflow, async ({ ids, caller, request }) => {
    requireWholeWorkspace(caller);
    await flow.deleteWorkflow(db, caller, ids.workflowId, ifMatch(request));
    return { result: null };
  });

  route(app, deps, contract.validateWorkflow, async ({ body, caller }) => {
    const errors = validationErrors(WorkflowDefinitionInput, body.definition);
    if (errors.length > 0) {
      const problems = errors.map((error) => ({
        step: stepNameAt(body.definition, error.path),
        ...error,
      }));
      return { result: { problems } };
    }
    await resolveAgents(deps.reads, caller, definitionAgents, body.definition);
    const input = body.definition as WorkflowDefinitionInput;
    const { problems, definition } = await checkWorkflow(db, caller, input);
    return { result: problems.length > 0 ? { problems } : { problems, definition } };
  });
}

const definitionAgents = agentPaths(WorkflowDefinitionInput);

/** Versions and pins of workflows. */
export function workflowVersionRoutes(app: FastifyInstance, deps: WorkflowDeps): void {
  const { db } = deps;

  route(app, deps, contract.createWorkflowVersion, async ({ ids, body, caller }) => {
    requireWholeWorkspace(caller);
    const input = { label: null, notes: null, ...body };
    const row = await flow.createWorkflowVersion(db, caller, ids.workflowId, input);
    const path = `/api/v1/workflows/${toId('workflow', row.workflowId)}`;
    const location = `${path}/versions/${toId('workflowVersion', row.id)}`;
    return { result: versionOf(row), headers: { location } };
  });

  route(app, deps, contract.listWorkflowVersions, async ({ ids, query, caller }) => {
    const page = readPage(query);
    const workflow = await requireWorkflow(db, caller, ids.workflowId);
    const { rows, total } = await listWorkflowVersions(db, caller, workflow.id, page);
    return { result: pageOf('versions', page, { rows: rows.map(versionOf), total }) };
  });

  route(app, deps, contract.getWorkflowVersion, async ({ ids, caller }) => {
    const workflow = await requireWorkflow(db, caller, ids.workflowId);
    const row = await findWorkflowVersion(db, caller, workflow.id, ids.workflowVersionId);
    return { result: versionOf(requireFound(row, 'version', 'workflow')) };
  });

  route(app, deps, contract.listWorkflowPins, async ({ ids, query, caller }) => {
    const page = readPage(query);
    const workflow = await requireWorkflow(db, caller, ids.workflowId);
    const { rows, total } = await listPins(db, 'workflow', workflow.id, page);
    return { result: pageOf('pins', page, { rows: rows.map(pinOf), total }) };
  });
}

/** Throws 404 if the caller cannot see the workflow. */
export async function requireWorkflow(db: Db, caller: Caller, id: string): Promise<WorkflowRow> {
  return requireFound(await findWorkflow(db, caller, id), 'workflow');
}

function workflowResponse(row: WorkflowRow, headers: Record<string, string> = {}) {
  const problems = storedProblems(row.definition);
  return {
    result: { ...row, problems: problems.length > 0 ? problems : null },
    headers: { ...headers, etag: etag(row.revision) },
  };
}

const noActivity = { lastRuns: [], nextAt: null };

function versionOf<Row extends WorkflowVersionSummaryRow>(row: Row) {
  return { ...row, workflowVersionLabel: row.label };
}

function pinOf(row: PinRow) {
  return { ...row, workflowVersionId: row.versionId, workflowVersionLabel: row.versionLabel };
}

/** The name of the step at a path; null outside steps and for a step without a name. */
function stepNameAt(definition: unknown, path: string): string | null {
  const index = /^steps\.(\d+)\b/.exec(path)?.[1];
  if (index === undefined) return null;
  const name = (definition as { steps?: { name?: unknown }[] }).steps?.[Number(index)]?.name;
  return typeof name === 'string' ? name : null;
}
