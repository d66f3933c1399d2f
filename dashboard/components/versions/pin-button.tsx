import { SmallButton } from '../../kit/confirm-dialog.tsx';

interface Version {
  readonly id: string;
  readonly label: string;
}

/** What it is called to pin a version instead of the pinned one. Identifiers are in the order of creation. */
export function pinVerb(version: Version, pinnedId: string): string {
  return `${shortVerb(version, pinnedId)}${version.id < pinnedId ? ' to' : ''} ${version.label}`;
}

const shortVerb = ({ id }: Version, pinnedId: string) => (id < pinnedId ? 'Roll back' : 'Pin');

/** Opens the dialog that pins a version. */
export function PinButton(props: {
  readonly version: Version;
  readonly pinnedId: string;
  readonly onClick: () => void;
}) {
  const { version, pinnedId, onClick } = props;
  return (
    <SmallButton
      label={shortVerb(version, pinnedId)}
      name={pinVerb(version, pinnedId)}
      onClick={onClick}
    />
  );
}
