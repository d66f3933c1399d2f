import type { PromptVersion } from '../../../src/client/index.ts';
import { DraftStatus } from '../../components/editor/draft-status.tsx';

/** Whether the draft of a prompt has changes, and of which version. */
export function VersionStatus(props: {
  readonly base: Pick<PromptVersion, 'promptVersionLabel'> | undefined;
  readonly changed: boolean;
  readonly onDiscard: () => void;
}) {
  const { base, changed, onDiscard } = props;
  return (
    <DraftStatus changed={changed} onDiscard={onDiscard}>
      {changed
        ? `Unsaved changes${base ? `, based on “${base.promptVersionLabel}”` : ''}.`
        : base
          ? `Version “${base.promptVersionLabel}”, no changes.`
          : 'No versions yet. Write the first one.'}
    </DraftStatus>
  );
}
