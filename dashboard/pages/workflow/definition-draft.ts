import type { WorkflowVersion } from '../../../src/client/index.ts';
import { type DefinitionFormat, writeDefinition } from '../../data/workflows/definition-text.ts';

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
  { workflowVersionId, definition }: WorkflowVersion,
): DefinitionDraft | null {
  if (now === null || now.text === sent.text) return null;
  // Only the format changed meanwhile.
  if (now.text === writeDefinition(definition, now.format)) return null;
  return { ...now, baseId: workflowVersionId };
}
