import type { WorkflowVersion } from '../../../../src/client/index.ts';
import { stringify } from '../../../data/text/exact-json.ts';
import { type DefinitionFormat, readDefinition } from '../../../data/workflows/definition-text.ts';

/** Unsaved changes to a definition, kept in session storage across pages. */
export interface DefinitionDraft {
  /** The version it is based on. */
  readonly baseId: string;
  readonly text: string;
  readonly format: DefinitionFormat;
}

/** The draft after saving `sent`: edits made meanwhile stay, based on the saved version. */
export function draftAfterSave(
  now: DefinitionDraft | null,
  sent: DefinitionDraft,
  { workflowVersionId }: Pick<WorkflowVersion, 'workflowVersionId'>,
): DefinitionDraft | null {
  if (now === null || now.text === sent.text) return null;
  // Only the format changed meanwhile.
  if (now.format !== sent.format && isSame(now.text, sent.text)) return null;
  return { ...now, baseId: workflowVersionId };
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => readDefinition(text).definition);
  return a !== undefined && stringify(a) === stringify(b);
}
