/** Returns a weight of the encoder by its name in the package. */
export type Weights = (name: string) => { shape: readonly number[]; values: Float32Array };

/** The most word pieces that the encoder reads. */
export const maxPieces = 128;
const heads = 4;
const epsilon = 1e-6;
/** A byte represents −127 to 127. */
const steps = 127;
const middle = 128;
const transformer = 'module_apply_default/Encoder_en/KonaTransformer/Encode';

/**
 * The Universal Sentence Encoder (lite) as ONNX: two transformer layers over word pieces, their mean, one dense layer.
 * Inputs are `ids`, padded to one length, `places` (0, 1, 2 …) and `mask`, 1 for a piece and 0 for padding. The output
 * `vectors` is not normalized.
 *
 * With 8 bits the large matrices are byte products with a scale per row and column. That keeps the vector of a text
 * independent of the other texts in its batch.
 */
export function sentenceEncoder(weights: Weights, bits: 8 | 32): Buffer {
  const nodes: OnnxNode[] = [];
  const tensors: OnnxTensor[] = [];
  let made = 0;

  function node(op: string, inputs: readonly string[], attributes?: OnnxNode['attributes']): string {
    const output = `v${++made}`;
    nodes.push({ op, inputs, outputs: [output], ...(attributes && { attributes }) });
    return output;
  }
  function constant(shape: readonly number[], values: Values): string {
    const name = `c${++made}`;
    tensors.push({ name, shape, values });
    return name;
  }
  const number = (value: number) => constant([], Float32Array.of(value));
  const numbers = (...values: number[]) => constant([values.length], BigInt64Array.from(values.map(BigInt)));
  const weight = (name: string) => {
    const { shape, values } = weights(name);
    // A 1×1 convolution is a matrix product, so its two leading dimensions are dropped.
    return constant(
      shape.filter((size, at) => size !== 1 || at > 1),
      values,
    );
  };
  const dense = (input: string, kernel: string, bias: string, product = exactProduct) =>
    node('Add', [product(input, kernel), weight(bias)]);
  const exactProduct = (input: string, kernel: string) => node('MatMul', [input, weight(kernel)]);
  const great = bits === 8 ? productOfBytes : exactProduct;

  /** Both factors are unsigned: products of mixed signs overflow on processors with AVX2 only. */
  function productOfBytes(input: string, kernel: string): string {
    const { bytes, scales, rows, columns } = asBytes(weights(kernel));
    const largest = node('Max', [node('ReduceMax', [node('Abs', [input])], { axes: [-1], keepdims: 1 }), number(1e-9)]);
    const scaled = node('Mul', [input, node('Div', [number(steps), largest])]);
    // The cast truncates, so one half is added to round.
    const rounded = node('Cast', [node('Add', [scaled, number(middle + 0.5)])], { to: elementType.uint8 });
    const byColumn = constant([columns], scales);
    // This operator converts the sums while adding. With standard ONNX operators they pass through memory twice more.
    const product = node('com.microsoft.MatMulIntegerToFloat', [
      rounded,
      constant([rows, columns], bytes),
      number(1 / steps),
      byColumn,
      zero(),
      zero(),
    ]);
    return node('Mul', [product, largest]);
  }
  const zero = () => constant([], Uint8Array.of(middle));
  const normalized = (input: string, name: string) =>
    node(
      'LayerNormalization',
      [
        input,
        weight(`${name}/layer_norm_scale/ConcatPartitions/concat`),
        weight(`${name}/layer_norm_bias/ConcatPartitions/concat`),
      ],
      { axis: -1, epsilon: { float: epsilon } },
    );

  function attention(input: string, layer: number, width: number, hidden: string): string {
    const name = `${transformer}/Layer_${layer}/TransformerLayer/MultiheadAttention`;
    const kernel = (of: string) => `module/${name.slice('module_apply_default/'.length)}/${of}/kernel/part_0`;
    const bias = (of: string) => `${name}/${of}/bias/ConcatPartitions/concat`;
    const all = dense(input, kernel('qkv_transform_single'), bias('qkv_transform_single'), great);
    const perHead = width / heads;
    const part = (at: number, order: readonly number[]) => {
      const sliced = node('Slice', [all, numbers(at * width), numbers((at + 1) * width), numbers(2)]);
      return node('Transpose', [node('Reshape', [sliced, numbers(0, 0, heads, perHead)])], { perm: order });
    };
    const query = node('Mul', [part(0, [0, 2, 1, 3]), number(1 / Math.sqrt(perHead))]);
    const scores = node('Add', [node('MatMul', [query, part(1, [0, 2, 3, 1])]), hidden]);
    const seen = node('MatMul', [node('Softmax', [scores], { axis: -1 }), part(2, [0, 2, 1, 3])]);
    const joined = node('Reshape', [node('Transpose', [seen], { perm: [0, 2, 1, 3] }), numbers(0, 0, width)]);
    return dense(joined, kernel('output_transform_single'), bias('output_transform_single'), great);
  }

  /** `narrow` is applied to the wide values and to the input before they are added. */
  function forward(input: string, layer: number, narrow = (values: string) => values): string {
    const name = `${transformer}/Layer_${layer}/TransformerLayer/FFN`;
    const kernel = (of: string) =>
      `${transformer}/TransformerStack/Layer_${layer}/TransformerLayer/FFN/${of}/Tensordot/Reshape_1`;
    const bias = (of: string) => `${name}/${of}/bias/ConcatPartitions/concat`;
    const wide = node('Relu', [
      dense(normalized(input, `${name}/layer_prepostprocess/layer_norm`), kernel('conv1'), bias('conv1'), great),
    ]);
    return node('Add', [dense(narrow(wide), kernel('conv2'), bias('conv2'), great), narrow(input)]);
  }

  const mask = node('Unsqueeze', ['mask', numbers(2)]);
  const hidden = node('Unsqueeze', [node('Mul', [node('Sub', [number(1), 'mask']), number(-1e9)]), numbers(1, 2)]);
  const pieces = node('Gather', [weight('module/Embeddings_en'), 'ids']);
  const order = node('Gather', [timing(), 'places']);
  // The model adds the embedding twice, once with its position.
  const input = node('Add', [node('Add', [pieces, pieces]), order]);
  const dense0 = `${transformer}/Layer_0/TransformerLayer/dense`;
  const widened = dense(
    input,
    `${dense0}/kernel/ConcatPartitions/concat`,
    `${dense0}/bias/ConcatPartitions/concat`,
    great,
  );
  const first = `${transformer}/Layer_0/TransformerLayer/layer_prepostprocess/layer_norm`;
  const second = `${transformer}/Layer_1/TransformerLayer/layer_prepostprocess/layer_norm`;
  const layer0 = forward(node('Add', [attention(normalized(input, first), 0, 256, hidden), widened]), 0);
  const count = node('ReduceSum', ['mask', numbers(1)], { keepdims: 1 });
  const mean = (values: string) =>
    node('Div', [node('ReduceSum', [node('Mul', [values, mask]), numbers(1)], { keepdims: 0 }), count]);
  // The mean commutes with the product. Taken before the last matrix, it saves a sixth of the work.
  const seen = node('Add', [attention(normalized(layer0, second), 1, 512, hidden), layer0]);
  const sentence = forward(seen, 1, mean);
  const last = 'module/Encoder_en/hidden_layers/tanh_layer_0';
  nodes.push({ op: 'Tanh', inputs: [dense(sentence, `${last}/weights`, `${last}/bias`)], outputs: ['vectors'] });

  /** Sines and cosines of the position, at the frequencies of the package. */
  function timing(): string {
    const frequencies = weights(
      `${transformer}/TransformerStack/Layer_0/AddTimingSignal/TimingSignal/ExpandDims_1`,
    ).values;
    const width = frequencies.length * 2;
    const values = new Float32Array(maxPieces * width);
    for (let place = 0; place < maxPieces; place++) {
      for (const [at, frequency] of frequencies.entries()) {
        values[place * width + at] = Math.sin(Math.fround(place * frequency));
        values[place * width + frequencies.length + at] = Math.cos(Math.fround(place * frequency));
      }
    }
    return constant([maxPieces, width], values);
  }

  return writeOnnx({
    nodes,
    weights: tensors,
    inputs: [
      { name: 'ids', shape: ['texts', 'pieces'], type: 'int64' },
      { name: 'places', shape: ['pieces'], type: 'int64' },
      { name: 'mask', shape: ['texts', 'pieces'], type: 'float' },
    ],
    outputs: [{ name: 'vectors', shape: ['texts', 512], type: 'float' }],
  });
}

function asBytes({ shape, values }: ReturnType<Weights>) {
  const [rows, columns] = shape.slice(-2) as [number, number];
  const scales = new Float32Array(columns);
  const bytes = new Uint8Array(values.length);
  // Plain loops for speed: the first query waits for four million weights.
  for (let at = 0; at < values.length; at++) {
    const scale = Math.abs(values[at] as number) / steps;
    if (scale > (scales[at % columns] as number)) scales[at % columns] = scale;
  }
  for (let at = 0; at < values.length; at++) {
    bytes[at] = Math.round((values[at] as number) / (scales[at % columns] || 1)) + middle;
  }
  return { bytes, scales, rows, columns };
}

/** The parts of the ONNX format that the encoder needs, as protobuf: https://onnx.ai/onnx/intro/concepts.html */

/** `op` is a standard operator, or one of a runtime with its domain: `com.microsoft.FusedMatMul`. */
type OnnxNode = { op: string; inputs: readonly string[]; outputs: readonly string[]; attributes?: Attributes };
type Values = Float32Array | BigInt64Array | Uint8Array;
type OnnxTensor = { name: string; shape: readonly number[]; values: Values };
/** A dimension given as a word may have any size. */
type OnnxPort = { name: string; shape: readonly (number | string)[]; type: 'float' | 'int64' };

type Attributes = Record<string, number | readonly number[] | { float: number }>;

const elementType = { float: 1, uint8: 2, int64: 7 };
const irVersion = 8;
/** The first operator set with `LayerNormalization`. */
const operatorSet = 17;

function writeOnnx(graph: {
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

/** Parts are joined once at the end, so that the weights are copied once. */
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

/** A negative number takes ten bytes: 64 bits in two's complement. */
function varint(value: number): Buffer {
  const written: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  while (rest > 127n) {
    written.push(Number(rest & 127n) | 128);
    rest >>= 7n;
  }
  return Buffer.from([...written, Number(rest)]);
}
