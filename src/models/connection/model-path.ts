import { ModelFailure } from '../../core/model/model-port.ts';
import type { ProviderKind } from '../../core/model/provider.ts';

/**
 * Throws `MODEL_NOT_FOUND` if the model name would lead a call to another URL. Some kinds have the name in the path,
 * and someone who may choose an agent's model may not choose where the owner's credential is sent.
 */
export function checkModelPath(kind: ProviderKind, model: string): void {
  if (!inPath.has(kind) || !unsafePath.test(model)) return;
  const message = `No model of kind ${kind} has a name like '${model}': it would change the path.`;
  throw new ModelFailure('MODEL_NOT_FOUND', message);
}

const inPath: ReadonlySet<ProviderKind> = new Set(['google', 'bedrock']);

/** Characters that end a path or are read as a slash or a dot, and path segments that are empty, `.` or `..`. */
const unsafePath = /[?#%\\]|(^|\/)\.{0,2}(\/|$)/;
