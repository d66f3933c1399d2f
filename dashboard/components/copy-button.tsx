import { ActionIcon, Tooltip } from '@mantine/core';
import { type Copied, useCopy } from './hooks/use-copy.ts';
import { Icon, type IconName } from './icon.tsx';

/** Copies `text`; `what` says of what, for the screen reader. */
export function CopyButton({ text, what }: { readonly text: string; readonly what: string }) {
  const [copied, copy] = useCopy();
  const label = copied ? copyWords[copied] : `Copy ${what}`;
  return (
    // Without a hover, too: whoever goes on without it has lost what is shown once.
    <Tooltip label={label} {...(copied === 'failed' && { opened: true })}>
      <ActionIcon
        variant="subtle"
        color={copied === 'failed' ? 'var(--bad)' : 'gray'}
        size="sm"
        aria-label={label}
        onClick={() => copy(text)}
      >
        <Icon name={icons[copied ?? 'not yet']} size={14} />
      </ActionIcon>
    </Tooltip>
  );
}

export const copyWords: Readonly<Record<NonNullable<Copied>, string>> = {
  copied: 'Copied',
  failed: 'Could not be copied',
};

const icons: Readonly<Record<NonNullable<Copied> | 'not yet', IconName>> = {
  copied: 'check',
  failed: 'warning',
  'not yet': 'copy',
};
