import type { FastifyInstance } from 'fastify';
import * as contract from '../../contract/declaration.ts';
import { applyDeclaration } from '../../flow/apply-declaration.ts';
import { readDeclaration } from '../../flow/read-declaration.ts';
import type { ApiParts } from '../parts.ts';
import { route } from '../route.ts';
import { requireWholeWorkspace } from '../whole-workspace.ts';

/** Prompts, agents and workflows as a file declares them. */
export function declarationRoutes(app: FastifyInstance, parts: ApiParts): void {
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
