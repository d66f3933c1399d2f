import type { FastifyInstance } from 'fastify';
import { route } from '../../http/route.ts';
import type { ApiDeps } from '../api-deps.ts';
import { requirePermission, requireWholeWorkspace } from '../people/access/require-permission.ts';
import * as contract from './declaration-contract.ts';
import { applyDeclaration } from './verbs/apply-declaration.ts';
import { readDeclaration } from './verbs/read-declaration.ts';

/** Reads and applies declarations of prompts, agents and workflows. */
export function declarationRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const { db, shares } = deps;

  route(app, deps, contract.getDeclaration, async ({ caller }) => {
    const release = await shares.declarations.wait(caller.workspaceId);
    const body = await readDeclaration(db, caller).finally(release);
    return { status: 200, body };
  });

  route(app, deps, contract.applyDeclaration, async ({ body, caller }) => {
    const { declaration, dryRun = false } = body;
    if (!dryRun) requirePermission(caller, 'manage');
    requireWholeWorkspace(caller);
    const release = await shares.declarations.wait(caller.workspaceId);
    const changes = await applyDeclaration(deps, caller, declaration, dryRun).finally(release);
    return { status: 200, body: { applied: !dryRun, changes } };
  });
}
