import { CallFailure } from '../../../core/failure.ts';
import { toId } from '../../../core/id.ts';
import { slugOf, slugOfId } from '../../../core/slug.ts';
import { type Db, inTransaction, type Trx } from '../../../db/database.ts';
import {
  deleteAliases,
  findTaken,
  freeSlug,
  insertAliases,
  insertSlug,
  lockSlugs,
  updateSlug,
} from '../statements/slugs.ts';

/** Gives agents and workflows their slugs, and agents their aliases. */

interface Subject {
  readonly kind: 'agent' | 'workflow';
  readonly id: string;
  readonly workspaceId: string;
}

/** A transaction that may take slugs and aliases. The lock comes first, because it precedes all others. */
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

interface NewNames {
  /** Null for one that follows from the name. */
  readonly slug: string | null;
  readonly name: string;
  readonly aliases?: readonly string[];
}

/**
 * Takes a slug for something new: the given one, or one that follows from its name. Also takes its aliases.
 * @throws {CallFailure} `CONFLICT` if one that is given is taken
 */
export async function takeSlug(
  trx: Trx,
  { kind, id, workspaceId }: Subject,
  { slug: given, name, aliases = [] }: NewNames,
): Promise<void> {
  await requireFreeNames(trx, workspaceId, { slug: given, aliases });
  if (aliases.length > 0) await insertAliases(trx, { workspaceId, subject: id }, aliases);
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
  await requireFreeNames(trx, workspaceId, { slug }, id);
  await updateSlug(trx, id, slug);
}

/**
 * Changes the slug and the aliases of an agent. They may change places.
 * @throws {CallFailure} `CONFLICT` if one of them is taken
 */
export async function changeNames(
  trx: Trx,
  { id, workspaceId }: Pick<Subject, 'id' | 'workspaceId'>,
  names: { readonly slug: string; readonly aliases: readonly string[] },
): Promise<void> {
  await requireFreeNames(trx, workspaceId, names, id);
  await deleteAliases(trx, id);
  await updateSlug(trx, id, names.slug);
  await insertAliases(trx, { workspaceId, subject: id }, names.aliases);
}

interface GivenNames {
  readonly slug?: string | null | undefined;
  readonly aliases?: readonly string[] | undefined;
}

/** @throws {CallFailure} `CONFLICT` if something other than `subject` has one of them, or an alias is the slug itself */
export async function requireFreeNames(
  db: Db,
  workspaceId: string,
  { slug = null, aliases = [] }: GivenNames,
  subject: string | null = null,
): Promise<void> {
  if (slug !== null && aliases.includes(slug)) {
    throw new CallFailure('CONFLICT', `The alias "${slug}" is the slug of the agent itself.`);
  }
  const names = [...(slug === null ? [] : [slug]), ...aliases];
  const conflicts = names.length > 0 ? await findTaken(db, workspaceId, names, subject) : [];
  const [first] = names.filter((name) => conflicts.includes(name));
  if (first === undefined) return;
  const kind = first === slug ? 'slug' : 'alias';
  throw new CallFailure(
    'CONFLICT',
    `The ${kind} "${first}" is taken by another agent or workflow.`,
  );
}
