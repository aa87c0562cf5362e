// Both servers listen on every interface unless they are kept from it: to be imported before them.
import net from 'node:net'

const listen = net.Server.prototype.listen
net.Server.prototype.listen = function (port, ...rest) {
  const isPort = typeof port === 'number' || typeof port === 'string'
  return isPort ? listen.call(this, Number(port), '127.0.0.1', ...rest) : listen.call(this, port, ...rest)
}
