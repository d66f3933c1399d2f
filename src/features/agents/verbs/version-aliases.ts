import { invalidRequest } from '../../../core/failure.ts';
import type { Trx } from '../../../db/database.ts';
import { findLabels } from '../../prompts/statements/versions.ts';

/** Throws unless each label is that of a version of the prompt. Labels stay: versions are immutable and are never deleted. */
export async function requireVersionAliases(
  trx: Trx,
  promptId: string,
  versionAliases: Readonly<Record<string, string>>,
  /** Whether there will be a version with this label. */
  isPlanned: (label: string) => boolean = () => false,
): Promise<void> {
  const wanted = Object.entries(versionAliases).filter(([, label]) => !isPlanned(label));
  if (wanted.length === 0) return;
  const known = await findLabels(
    trx,
    promptId,
    wanted.map(([, label]) => label),
  );
  const [unknown] = wanted.filter(([, label]) => !known.includes(label));
  if (!unknown) return;
  const [number, label] = unknown;
  throw invalidRequest(
    `Field "versionAliases.${number}" must be the label of a version of the prompt; there is none with the label "${label}".`,
  );
}
