import type { FastifyInstance } from 'fastify';
import * as contract from '../../../contract/agents/declaration.ts';
import { applyDeclaration } from '../../../flow/declaration/apply-declaration.ts';
import { readDeclaration } from '../../../flow/declaration/read-declaration.ts';
import { requireWholeWorkspace } from '../../access/require-permission.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { route } from '../../http/route.ts';

/** Prompts, agents and workflows as a file declares them. */
export function declarationRoutes(app: FastifyInstance, parts: ApiDeps): void {
  const { db } = parts;

  route(app, parts, contract.getDeclaration, async ({ caller }) => {
    return { status: 200, body: await readDeclaration(db, caller) };
  });

  route(app, parts, contract.applyDeclaration, async ({ body, caller }) => {
    requireWholeWorkspace(caller);
    const { declaration, dryRun = false } = body;
    const changes = await applyDeclaration(db, caller, declaration, dryRun);
    return { status: 200, body: { applied: !dryRun, changes } };
  });
}
