import type { Declaration, DeclarationRead } from '../../client/index.ts';

/**
 * What a workspace has beyond a file: it stays as it is when the file is applied. Of the versions of a prompt, only the
 * newest and pinned ones are known.
 */

export interface Undeclared {
  readonly kind: 'toolServer' | 'prompt' | 'agent' | 'budget' | 'workflow';
  readonly name: string;
  readonly action: 'none';
  readonly field?: 'version';
  readonly from?: string;
}

export function undeclaredIn(
  { declaration, omitted }: DeclarationRead,
  declared: Declaration,
): Undeclared[] {
  const kinds = ['toolServer', 'prompt', 'agent', 'budget', 'workflow'] as const;
  const rest = kinds.flatMap((kind) => {
    const isDeclared = hasName(declared[`${kind}s`] ?? []);
    const unique = declaration[`${kind}s`] ?? [];
    const names = [...unique, ...omitted.filter((one) => one.kind === kind)];
    return names
      .filter(({ name }) => !isDeclared(name))
      .map(({ name }) => ({ kind, name, action: 'none' as const }));
  });
  return [...rest, ...undeclaredVersions(declaration, declared)];
}

function undeclaredVersions(
  { prompts = [] }: Declaration,
  { prompts: declared = [] }: Declaration,
): Undeclared[] {
  return prompts.flatMap(({ name, versions }) => {
    const known = declared.find((one) => one.name === name);
    if (!known) return [];
    return versions
      .filter(({ label }) => !known.versions.some((one) => one.label === label))
      .map(({ label }) => ({
        kind: 'prompt' as const,
        name,
        action: 'none' as const,
        field: 'version' as const,
        from: label,
      }));
  });
}

function hasName(rows: readonly { readonly name: string }[]) {
  const names = new Set(rows.map(({ name }) => name));
  return (name: string) => names.has(name);
}
