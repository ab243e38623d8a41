/** The few parts of the ONNX format that the sentence encoder needs, as protobuf: https://onnx.ai/onnx/intro/concepts.html */

/** `op` is one of ONNX, or behind its domain one of a runtime: `com.microsoft.FusedMatMul`. */
export type OnnxNode = { op: string; inputs: readonly string[]; outputs: readonly string[]; attributes?: Attributes };
export type Values = Float32Array | BigInt64Array | Uint8Array;
export type OnnxTensor = { name: string; shape: readonly number[]; values: Values };
/** A dimension that is a word may be of any size. */
export type OnnxPort = { name: string; shape: readonly (number | string)[]; type: 'float' | 'int64' };

type Attributes = Record<string, number | readonly number[] | { float: number }>;

export const elementType = { float: 1, uint8: 2, int64: 7 };
const irVersion = 8;
/** The first one with `LayerNormalization`. */
const operatorSet = 17;

export function writeOnnx(graph: {
  nodes: readonly OnnxNode[];
  weights: readonly OnnxTensor[];
  inputs: readonly OnnxPort[];
  outputs: readonly OnnxPort[];
}): Buffer {
  const content = [
    ...graph.nodes.flatMap((node) => message(1, nodeOf(node))),
    ...text(2, 'sentence-encoder'),
    ...graph.weights.flatMap((tensor) => message(5, tensorOf(tensor))),
    ...graph.inputs.flatMap((port) => message(11, portOf(port))),
    ...graph.outputs.flatMap((port) => message(12, portOf(port))),
  ];
  const domains = new Set(graph.nodes.map(({ op }) => domainOf(op)));
  const operators = [...domains].flatMap((domain) =>
    message(8, [...text(1, domain), ...integer(2, domain === '' ? operatorSet : 1)]),
  );
  return Buffer.concat([...integer(1, irVersion), ...message(7, content), ...operators]);
}

/** In pieces until the end: the weights are copied once. */
type Written = Buffer[];

const domainOf = (op: string) => op.split('.').slice(0, -1).join('.');

const nodeOf = ({ op, inputs, outputs, attributes = {} }: OnnxNode): Written => [
  ...inputs.flatMap((name) => text(1, name)),
  ...outputs.flatMap((name) => text(2, name)),
  ...text(4, op.split('.').at(-1) as string),
  ...text(7, domainOf(op)),
  ...Object.entries(attributes).flatMap(([name, value]) => message(5, attributeOf(name, value))),
];

function attributeOf(name: string, value: Attributes[string]): Written {
  if (typeof value === 'number') return [...text(1, name), ...integer(3, value), ...integer(20, 2)];
  if ('float' in value) return [...text(1, name), ...float(2, value.float), ...integer(20, 1)];
  return [...text(1, name), ...value.flatMap((each) => integer(8, each)), ...integer(20, 7)];
}

const tensorOf = ({ name, shape, values }: OnnxTensor): Written => [
  ...shape.flatMap((size) => integer(1, size)),
  ...integer(2, elementType[typeOf(values)]),
  ...text(8, name),
  ...message(9, [Buffer.from(values.buffer, values.byteOffset, values.byteLength)]),
];

function typeOf(values: Values): keyof typeof elementType {
  if (values instanceof Float32Array) return 'float';
  return values instanceof Uint8Array ? 'uint8' : 'int64';
}

function portOf({ name, shape, type }: OnnxPort): Written {
  const sizes = shape.flatMap((size) => message(1, typeof size === 'number' ? integer(1, size) : text(2, size)));
  return [...text(1, name), ...message(2, message(1, [...integer(1, elementType[type]), ...message(2, sizes)]))];
}

const tag = (field: number, kind: 0 | 2 | 5) => varint((field << 3) | kind);
const integer = (field: number, value: number): Written => [tag(field, 0), varint(value)];
const text = (field: number, value: string): Written => message(field, [Buffer.from(value, 'utf8')]);
const message = (field: number, parts: Written): Written => [
  tag(field, 2),
  varint(parts.reduce((bytes, { length }) => bytes + length, 0)),
  ...parts,
];

function float(field: number, value: number): Written {
  const written = Buffer.alloc(4);
  written.writeFloatLE(value);
  return [tag(field, 5), written];
}

/** Negative numbers take ten bytes, as 64 bits in two's complement. */
function varint(value: number): Buffer {
  const written: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  while (rest > 127n) {
    written.push(Number(rest & 127n) | 128);
    rest >>= 7n;
  }
  return Buffer.from([...written, Number(rest)]);
}
