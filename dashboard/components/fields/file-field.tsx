import { Button, Group, Input, TextInput } from '@mantine/core';
import { type DragEvent, useRef, useState } from 'react';
import { formatExactCount } from '../../data/text/format.ts';
import classes from './file-field.module.css';

/** An image or file as a value: an https URL, or a file of this computer as a data URL. */
export function FileField(props: {
  readonly name: string;
  readonly kind: 'image' | 'file';
  readonly description: string | undefined;
  readonly required: boolean;
  readonly placeholder: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}) {
  const { name, kind, value, onChange } = props;
  const input = useRef<HTMLInputElement>(null);
  const [isOver, setIsOver] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const read = (file: File | undefined) => {
    if (!file) return;
    const rejected = rejection(kind, file);
    setProblem(rejected);
    if (rejected === null) void dataUrlOf(file).then(onChange);
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setIsOver(false);
    read(event.dataTransfer.files[0]);
  };
  const isData = value.startsWith('data:');
  return (
    <Input.Wrapper
      label={<code>{name}</code>}
      description={props.description}
      error={problem}
      labelElement="div"
    >
      <section
        className={classes.drop}
        data-over={isOver || undefined}
        aria-label={`Drop ${kind === 'image' ? 'an image' : 'a file'} for ${name}`}
        onDragOver={(event) => {
          event.preventDefault();
          setIsOver(true);
        }}
        onDragLeave={() => setIsOver(false)}
        onDrop={drop}
      >
        {isData ? (
          <Chosen name={name} value={value} onRemove={() => onChange('')} />
        ) : (
          <>
            <TextInput
              aria-label={name}
              type="url"
              placeholder={props.placeholder || 'https://…'}
              required={props.required}
              maxLength={urlMax}
              value={value}
              onChange={({ currentTarget }) => {
                setProblem(null);
                onChange(currentTarget.value);
              }}
            />
            <Group gap="xs">
              <Button size="compact-xs" variant="default" onClick={() => input.current?.click()}>
                Choose {kind}
              </Button>
              <span className="small-note">or drop it here</span>
            </Group>
          </>
        )}
        <input
          ref={input}
          type="file"
          hidden
          aria-label={`${kind === 'image' ? 'Image' : 'File'} for ${name}`}
          accept={kind === 'image' ? 'image/*' : undefined}
          onChange={({ currentTarget }) => {
            read(currentTarget.files?.[0]);
            // The same file may be chosen again.
            currentTarget.value = '';
          }}
        />
      </section>
    </Input.Wrapper>
  );
}

const urlMax = 8_192;
/** As base64 with the other values, a body must stay below 1 MiB. */
const fileBytesMax = 750_000;

function rejection(kind: 'image' | 'file', file: File): string | null {
  if (file.size === 0) return 'The file is empty.';
  if (file.size > fileBytesMax) {
    const [bytes, max] = [formatExactCount(file.size), formatExactCount(fileBytesMax)];
    return `The file has ${bytes} bytes; a call can contain about ${max}. Give its https URL instead.`;
  }
  return kind === 'image' && !file.type.startsWith('image/') ? 'This is not an image.' : null;
}

async function dataUrlOf(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  // Calls with too many arguments overflow the stack.
  let binary = '';
  for (let at = 0; at < bytes.length; at += chunk) {
    binary += String.fromCharCode(...bytes.subarray(at, at + chunk));
  }
  return `data:${file.type || 'application/octet-stream'};base64,${btoa(binary)}`;
}

const chunk = 8_192;

function Chosen(props: {
  readonly name: string;
  readonly value: string;
  readonly onRemove: () => void;
}) {
  const { name, value, onRemove } = props;
  const [, type = ''] = /^data:([^;,]*)/.exec(value) ?? [];
  const data = value.slice(value.indexOf(',') + 1);
  const bytes = Math.floor((data.length * 3) / 4) - (/=*$/.exec(data)?.[0].length ?? 0);
  return (
    <div className={classes.chosen}>
      {/^image\/(png|jpeg|gif|webp)$/.test(type) && <img src={value} alt={`Preview of ${name}`} />}
      <span>
        {type}, {formatExactCount(bytes)} bytes
      </span>
      <Button
        size="compact-xs"
        variant="default"
        aria-label={`Remove the file of ${name}`}
        onClick={onRemove}
      >
        Remove
      </Button>
    </div>
  );
}
