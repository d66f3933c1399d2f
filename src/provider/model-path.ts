import { ModelFailure } from '../core/model/model-port.ts';
import type { ProviderKind } from '../core/model/provider.ts';

/**
 * Throws `MODEL_NOT_FOUND` where a model's name would lead a call to another URL than its own. Some kinds have the name in
 * the path, and whoever may choose the model of an agent may not choose where the owner's credential is sent.
 */
export function checkModelPath(kind: ProviderKind, model: string): void {
  if (!inPath.has(kind) || !steering.test(model)) return;
  const message = `No model of kind ${kind} has a name like '${model}': it would be a path of its own.`;
  throw new ModelFailure('MODEL_NOT_FOUND', message);
}

const inPath: ReadonlySet<ProviderKind> = new Set(['google', 'bedrock']);

/** What ends a path, what is taken for a slash or a dot, and parts that are empty, `.` or `..`. */
const steering = /[?#%\\]|(^|\/)\.{0,2}(\/|$)/;
