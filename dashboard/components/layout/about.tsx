import { Spoiler } from '@mantine/core';

/** Text of any length, collapsed to this height. */
export default function About(props: {
  readonly text: string;
  readonly heightMaxPx: number;
  readonly className: string | undefined;
}) {
  return (
    <Spoiler
      className={props.className ?? ''}
      dir="auto"
      maxHeight={props.heightMaxPx}
      showLabel="Show more"
      hideLabel="Show less"
    >
      {props.text}
    </Spoiler>
  );
}
