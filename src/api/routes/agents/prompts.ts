import type { FastifyInstance } from 'fastify';
import * as contract from '../../../contract/agents/prompts.ts';
import { notFound } from '../../../core/failure.ts';
import { fromId } from '../../../core/id.ts';
import type { Caller } from '../../../core/people/caller.ts';
import type { Db } from '../../../db/database.ts';
import { changePrompt, createPrompt } from '../../../flow/agent/change-prompt.ts';
import { createVersion, requireValid, versionInput } from '../../../flow/agent/create-version.ts';
import { requireSchemas } from '../../../flow/compute/require-schemas.ts';
import {
  findPrompt,
  findVisibleVersion,
  listPrompts,
  type PromptRow,
} from '../../../store/agent/prompts.ts';
import { listVersions } from '../../../store/agent/versions.ts';
import { requireWholeWorkspace } from '../../access/require-permission.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { etag, ifMatch } from '../../http/request/if-match.ts';
import { pageResponse, readPage } from '../../http/request/page.ts';
import { type HandlerResponse, route } from '../../http/route.ts';
import { promptWire, versionSummaryWire, versionWire } from './prompt-wire.ts';

/** Prompts and their versions. A key that is restricted to agents can only read their prompts and add versions. */
export function promptRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const { db } = deps;

  route(app, deps, contract.createPrompt, async ({ body, caller }) => {
    requireWholeWorkspace(caller);
    const { name, description = null, visibility = 'private' } = body;
    const row = await createPrompt(db, caller, { name, description, visibility });
    const location = `/api/v1/prompts/${promptWire(row).promptId}`;
    return promptResponse(row, 201, { location });
  });

  route(app, deps, contract.listPrompts, async ({ query, caller }) => {
    const page = readPage(query);
    const { q = null, archived = false } = query;
    const { rows, total } = await listPrompts(db, caller, { ...page, q, archived });
    return pageResponse('prompts', rows.map(promptWire), { ...page, total });
  });

  route(app, deps, contract.getPrompt, async ({ params, caller }) => {
    return promptResponse(await requirePrompt(db, caller, params.promptId));
  });

  route(app, deps, contract.updatePrompt, async ({ params, body, caller, request }) => {
    requireWholeWorkspace(caller);
    const promptId = fromId('prompt', params.promptId);
    return promptResponse(await changePrompt(db, caller, promptId, body, ifMatch(request)));
  });

  for (const [endpoint, archived] of [
    [contract.archivePrompt, true],
    [contract.restorePrompt, false],
  ] as const) {
    route(app, deps, endpoint, async ({ params, caller }) => {
      requireWholeWorkspace(caller);
      const promptId = fromId('prompt', params.promptId);
      return promptResponse(await changePrompt(db, caller, promptId, { archived }));
    });
  }

  route(app, deps, contract.createPromptVersion, async ({ params, body, caller }) => {
    const promptId = fromId('prompt', params.promptId);
    const input = versionInput(body);
    requireValid(input);
    await requireSchemas(deps.compute, caller.workspaceId, input);
    const version = versionWire(await createVersion(db, caller, promptId, input));
    const location = `/api/v1/prompts/${version.promptId}/versions/${version.promptVersionId}`;
    return { status: 201, body: version, headers: { location } };
  });

  route(app, deps, contract.listPromptVersions, async ({ params, query, caller }) => {
    const page = readPage(query);
    const prompt = await requirePrompt(db, caller, params.promptId);
    const { rows, total } = await listVersions(db, prompt.id, page);
    return pageResponse('versions', rows.map(versionSummaryWire), { ...page, total });
  });

  route(app, deps, contract.getPromptVersion, async ({ params, caller }) => {
    const promptId = fromId('prompt', params.promptId);
    const versionId = fromId('version', params.promptVersionId);
    const row =
      promptId && versionId && (await findVisibleVersion(db, caller, promptId, versionId));
    if (!row) await requirePrompt(db, caller, params.promptId);
    if (!row) throw notFound('version', 'prompt');
    return { status: 200, body: versionWire(row) };
  });
}

async function requirePrompt(db: Db, caller: Caller, wireId: string): Promise<PromptRow> {
  const promptId = fromId('prompt', wireId);
  const row = promptId && (await findPrompt(db, caller, promptId));
  if (!row) throw notFound('prompt');
  return row;
}

function promptResponse(
  row: PromptRow,
  status = 200,
  headers: Record<string, string> = {},
): HandlerResponse {
  return { status, body: promptWire(row), headers: { ...headers, etag: etag(row.revision) } };
}
