// Draws public/favicon.svg as PNG, for what installs a page as an app and takes no SVG: node scripts/icons.mjs
// By hand, since it is three shapes: a ground with round corners, a T and a point. The files are checked in.
import { writeFileSync } from 'node:fs'
import { crc32, deflateSync } from 'node:zlib'

/** As the SVG has them, on a square of 32. */
const GROUND = [0x0f, 0x76, 0x6e]
const WHITE = [255, 255, 255]
const POINT = [0xfb, 0xbf, 0x24]
const HALF_STROKE = 1.7
const isGround = (x, y) => Math.hypot(Math.max(8 - x, x - 24, 0), Math.max(8 - y, y - 24, 0)) <= 8
const isOn = (x, y, [x1, y1, x2, y2]) =>
  Math.hypot(x - Math.min(Math.max(x, x1), x2), y - Math.min(Math.max(y, y1), y2)) <= HALF_STROKE
const isLetter = (x, y) => isOn(x, y, [9, 10, 23, 10]) || isOn(x, y, [16, 10, 16, 23])
const colourAt = (x, y) => {
  if (Math.hypot(x - 23, y - 22) <= 2.6) return POINT
  if (isLetter(x, y)) return WHITE
  return isGround(x, y) ? GROUND : null
}

/** So many looks at each dot, across and down. */
const LOOKS = 8

function dot(size, column, line) {
  const sum = [0, 0, 0]
  let seen = 0
  for (let look = 0; look < LOOKS * LOOKS; look += 1) {
    const x = ((column + ((look % LOOKS) + 0.5) / LOOKS) * 32) / size
    const y = ((line + (Math.floor(look / LOOKS) + 0.5) / LOOKS) * 32) / size
    const colour = colourAt(x, y)
    if (!colour) continue
    seen += 1
    colour.forEach((part, at) => (sum[at] += part))
  }
  const mean = sum.map((part) => (seen ? Math.round(part / seen) : 0))
  return [...mean, Math.round((seen * 255) / (LOOKS * LOOKS))]
}

function part(name, data) {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data])
  const frame = Buffer.alloc(body.length + 8)
  frame.writeUInt32BE(data.length, 0)
  body.copy(frame, 4)
  frame.writeUInt32BE(crc32(body), body.length + 4)
  return frame
}

function png(size) {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(size, 0)
  head.writeUInt32BE(size, 4)
  head.set([8, 6, 0, 0, 0], 8)
  const lines = Array.from({ length: size }, (_, line) =>
    Buffer.from([0, ...Array.from({ length: size }, (_, column) => dot(size, column, line)).flat()]),
  )
  const parts = [
    part('IHDR', head),
    part('IDAT', deflateSync(Buffer.concat(lines), { level: 9 })),
    part('IEND', Buffer.alloc(0)),
  ]
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ...parts])
}

for (const size of [192, 512]) {
  writeFileSync(new URL(`../public/till-${size}.png`, import.meta.url), png(size))
}
