import { CallFailure } from '../../core/failure.ts';
import { toId } from '../../core/id.ts';
import { slugOf, slugOfId } from '../../core/slug.ts';
import {
  findSlugSubject,
  freeSlug,
  insertSlug,
  lockSlugs,
  updateSlug,
} from '../../store/agent/slugs.ts';
import { type Db, inTransaction, type Trx } from '../../store/connection/database.ts';

/** Gives agents and workflows their slugs. */

interface Subject {
  readonly kind: 'agent' | 'workflow';
  readonly id: string;
  readonly workspaceId: string;
}

/** A transaction that may take slugs. The lock comes first, because it precedes all others. */
export function withSlugs<T>(
  db: Db,
  workspaceId: string,
  work: (trx: Trx) => Promise<T>,
): Promise<T> {
  return inTransaction(db, async (trx) => {
    await lockSlugs(trx, workspaceId);
    return work(trx);
  });
}

/**
 * Takes a slug for something new: the given one, or one that follows from its name.
 * @throws {CallFailure} `CONFLICT` if the given one is taken
 */
export async function takeSlug(
  trx: Trx,
  { kind, id, workspaceId }: Subject,
  { slug: given, name }: { readonly slug: string | null; readonly name: string },
): Promise<void> {
  if (given !== null) await requireFreeSlug(trx, workspaceId, given);
  const derived = slugOf(name) ?? slugOfId(kind, toId(kind, id));
  const slug = given ?? (await freeSlug(trx, workspaceId, derived));
  await insertSlug(trx, { workspaceId, slug, subject: id });
}

/** @throws {CallFailure} `CONFLICT` if it is taken */
export async function changeSlug(
  trx: Trx,
  { id, workspaceId }: Pick<Subject, 'id' | 'workspaceId'>,
  slug: string,
): Promise<void> {
  await requireFreeSlug(trx, workspaceId, slug, id);
  await updateSlug(trx, id, slug);
}

/** @throws {CallFailure} `CONFLICT` if something other than `subject` has it */
export async function requireFreeSlug(
  db: Db,
  workspaceId: string,
  slug: string,
  subject: string | null = null,
): Promise<void> {
  const owner = await findSlugSubject(db, workspaceId, slug);
  if (owner === null || owner === subject) return;
  throw new CallFailure('CONFLICT', `The slug "${slug}" is taken by another agent or workflow.`);
}
